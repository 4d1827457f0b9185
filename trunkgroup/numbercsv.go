package trunkgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// NumberCSV says how a list of numbers is read. The zero value reads two
// columns, number and group, and takes any name for a group.
//
// One line is one change: "+12145550100,acme-in", "+1469555*,acme-in" or
// "+12145550100..+12145550199,acme-in". The group "-" takes the pattern out.
// Columns are parted by comma, semicolon or tab, and may be quoted. Empty lines
// and lines that begin with # say nothing. The first line may name the columns;
// then their order is free and other columns are ignored.
type NumberCSV struct {
	// Group is whom the numbers belong to where a line names no group. With an
	// empty one each line must.
	Group string
	// Known tells whether numbers may belong to a group, and if not what to do
	// about it; nil takes any.
	Known func(group string) (remedy string, ok bool)
	// MaxFaults is how many faults are told one by one; default 100. The others
	// are counted.
	MaxFaults int
}

// NumberCSVSum is what a list held.
type NumberCSVSum struct {
	Lines    int // all, of whatever kind
	Added    int // patterns with a group
	Removed  int // patterns with "-"
	Repeated int // lines that say again what an earlier one said; they are no changes
	Faults   int // lines that cannot be
}

const (
	defaultCSVFaults = 100
	maxCSVLine       = 1024
	// maxCSVGroups bounds how many different groups one list names.
	maxCSVGroups = 100_000
)

// ReadNumberCSV reads a list of numbers line by line and calls yield for each
// change, with its line. It takes about 40 octets of memory a number, to find
// numbers that stand in the list twice. The error is Faults with the line of
// each, after the whole list was read: what was yielded before counts for
// nothing then. An error of the reader or of yield ends it at once.
func ReadNumberCSV(r io.Reader, o NumberCSV, yield func(line int, c NumberChange) error) (NumberCSVSum, error) {
	c := newCSVReader(o)
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, long, err := csvLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return c.sum, fmt.Errorf("line %d: %w", c.sum.Lines+1, err)
		}
		if err != nil && len(line) == 0 && !long {
			break
		}
		c.sum.Lines++
		if long {
			c.fault("the line is longer than 1024 characters", "write one number and one group on a line")
			continue
		}
		change, ok := c.line(line)
		if !ok {
			continue
		}
		if err := yield(c.sum.Lines, change); err != nil {
			return c.sum, fmt.Errorf("line %d: %w", c.sum.Lines, err)
		}
	}
	c.rangeFaults()
	return c.sum, c.faults.all(c.sum.Faults)
}

// csvLine returns the next line without its end. Of a line that is too long it
// returns a part, and reads over the rest.
func csvLine(r *bufio.Reader) (line []byte, long bool, err error) {
	line, err = r.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		line, err = r.ReadSlice('\n')
	}
	return line, long || len(line) > maxCSVLine, err
}

// line reads one line. It returns false for what is no change.
func (c *csvReader) line(line []byte) (NumberChange, bool) {
	if c.sum.Lines == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		if bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff")) {
			c.fault("the list is UTF-16", "save it as UTF-8")
			return NumberChange{}, false
		}
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '#' {
		return NumberChange{}, false
	}
	if err := c.split(line); err != nil {
		c.fault(err.Error(), `quote a field as a whole, like "acme-in", or not at all`)
		return NumberChange{}, false
	}
	first := !c.begun
	c.begun = true
	if first && c.header() {
		return NumberChange{}, false
	}
	return c.row()
}
