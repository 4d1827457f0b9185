package deck

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// CSV says how a rate deck is read. The zero value takes any group and policy, and wants
// each line to name what it needs.
//
// The first line names the columns, in any order: prefix and rate, and in a deck of what
// carriers cost carrier_id and group; currency, increment, min_duration, effective_from,
// effective_to, tech_prefix, number_policy and priority may be there. destination,
// description, country and note are not read; any other column is a fault. A deck without
// the column carrier_id, and without Carrier, is one of what customers pay. Columns are
// parted by comma, semicolon or tab, and may be quoted; empty lines and lines that begin
// with # say nothing.
type CSV struct {
	// Carrier, Group and Currency hold where a line names none.
	Carrier, Group, Currency string
	// KnownGroup and KnownPolicy tell whether there is such a group or number policy, and if
	// not what to do about it; nil takes any.
	KnownGroup, KnownPolicy func(name string) (remedy string, ok bool)
	// MaxFaults is how many faults are told one by one; default 100. The others are counted.
	MaxFaults int
}

const (
	defaultFaults = 100
	maxLine       = 4096
)

// ReadCSV reads a rate deck, whole or not at all. The error is trunkgroup.Faults with the
// line of each, or that of the reader.
func ReadCSV(r io.Reader, o CSV) (*Deck, error) {
	if o.MaxFaults <= 0 {
		o.MaxFaults = defaultFaults
	}
	c := &reader{CSV: o, names: make(map[nameKey]string), builder: builder{currency: o.Currency}}
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, long, err := nextLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", c.at+1, err)
		}
		if err != nil && len(line) == 0 && !long {
			break
		}
		c.at++
		if long {
			c.fault(fmt.Sprintf("the line is longer than %d characters", maxLine), "write one row on a line")
			continue
		}
		if !c.line(line) {
			break
		}
	}
	if c.columns == nil && c.count == 0 {
		c.fault("the list is empty", "begin it with a line of column names: prefix,carrier_id,group,rate")
	}
	if c.count > 0 {
		return nil, c.faults()
	}
	d, again := c.builder.deck()
	for _, t := range again {
		c.at = int(t.second)
		c.fault(fmt.Sprintf("prefix %s%s with the same effective_from stands on line %d", t.row.prefix, ofCarrier(d, &t.row.packed), t.first), "keep one of them, or write another effective_from")
	}
	if c.count > 0 {
		return nil, c.faults()
	}
	return d, nil
}

func ofCarrier(d *Deck, r *packed) string {
	if d.sells {
		return ""
	}
	return " of " + d.carriers[r.carrier]
}

// nextLine returns the next line without its end. Of a line that is too long it returns a
// part, and reads over the rest.
func nextLine(r *bufio.Reader) (line []byte, long bool, err error) {
	line, err = r.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		line, err = r.ReadSlice('\n')
	}
	return line, long || len(line) > maxLine, err
}

// reader is what is known while a deck is read.
type reader struct {
	CSV
	builder builder
	at      int   // line
	columns []int // by column of the list: which of ours; nil before the first line
	part    byte
	fields  [][]byte // of the line
	values  [columnCount][]byte
	names   map[nameKey]string // texts that were checked
	told    trunkgroup.Faults
	count   int // faults
	stated  bool
}

// line reads one line. It returns false when reading on makes no sense.
func (c *reader) line(line []byte) bool {
	if c.at == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		if bytes.HasPrefix(line, []byte("\xff\xfe")) || bytes.HasPrefix(line, []byte("\xfe\xff")) {
			c.fault("the list is UTF-16", "save it as UTF-8")
			return false
		}
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '#' {
		return true
	}
	if c.columns == nil {
		c.part = ','
		if i := bytes.IndexAny(line, ",;\t"); i >= 0 {
			c.part = line[i]
		}
	}
	if err := c.split(line); err != nil {
		c.fault(err.Error(), `quote a field as a whole, like "1214", or not at all`)
		return c.columns != nil
	}
	if c.columns == nil {
		return c.header()
	}
	if len(c.fields) != len(c.columns) {
		c.fault(fmt.Sprintf("the line has %d columns, the first line names %d", len(c.fields), len(c.columns)), "write all columns, empty ones too; a decimal comma is none: write 0.01")
		return true
	}
	if err := c.row(); err != nil {
		c.fault(err.Error(), "part the list into several decks")
		return false
	}
	return true
}

// split parts a line into fields.
func (c *reader) split(line []byte) error {
	c.fields = c.fields[:0]
	for {
		field, rest, more := bytes.Cut(line, []byte{c.part})
		if field = bytes.TrimSpace(field); len(field) > 0 && field[0] == '"' {
			line = bytes.TrimSpace(line)
			end := bytes.IndexByte(line[1:], '"') + 1
			if end == 0 {
				return errors.New("a quote is not closed")
			}
			field, rest = bytes.TrimSpace(line[1:end]), bytes.TrimSpace(line[end+1:])
			if more = len(rest) > 0; more && rest[0] != c.part {
				return errors.New("there is text behind a quote")
			} else if more {
				rest = rest[1:]
			}
		}
		c.fields = append(c.fields, field)
		if !more {
			return nil
		}
		line = rest
	}
}

// Columns that are read.
const (
	colPrefix = iota
	colCarrier
	colGroup
	colRate
	colCurrency
	colIncrement
	colMinDuration
	colFrom
	colTo
	colTechPrefix
	colPolicy
	colPriority
	columnCount
	colOther = -1
)

// columnNames are the names of columns; the first of each is how Export writes it.
var columnNames = map[string]int{
	"prefix": colPrefix, "code": colPrefix, "carrier_id": colCarrier, "carrier": colCarrier,
	"group": colGroup, "gateway_group": colGroup, "trunk_group": colGroup, "rate": colRate, "price": colRate,
	"currency": colCurrency, "increment": colIncrement, "billing_increment": colIncrement, "min_duration": colMinDuration,
	"effective_from": colFrom, "effective_to": colTo, "tech_prefix": colTechPrefix, "number_policy": colPolicy, "priority": colPriority,
	"destination": colOther, "description": colOther, "country": colOther, "note": colOther,
}

// header reads the names of the columns.
func (c *reader) header() bool {
	var have [columnCount]bool
	c.columns = make([]int, len(c.fields))
	before := c.count
	for i, f := range c.fields {
		name := strings.ToLower(string(f))
		at, ok := columnNames[name]
		switch {
		case !ok:
			c.fault(fmt.Sprintf("%.40q is no column", f), otherwise(trunkgroup.Suggest(name, columnList()), "name prefix, carrier_id, group, rate and so on in the first line, and take out other columns; docs/decks.md lists them"))
		case at != colOther && have[at]:
			c.fault(fmt.Sprintf("the column %q is there twice", name), "keep one of them")
		case at != colOther:
			have[at] = true
		}
		c.columns[i] = at
	}
	c.builder.sells = !have[colCarrier] && c.Carrier == ""
	need := []int{colPrefix, colRate}
	if !c.builder.sells && c.Group == "" {
		need = append(need, colGroup)
	}
	for _, at := range need {
		if !have[at] && c.count == before {
			c.fault(fmt.Sprintf("there is no column %q", columnName(at)), "name the columns in the first line, like: prefix,carrier_id,group,rate")
		}
	}
	for _, at := range []int{colGroup, colTechPrefix, colPolicy, colPriority} {
		if have[at] && c.builder.sells && c.count == before {
			c.fault(fmt.Sprintf("the column %q means nothing without carrier_id", columnName(at)), "name the carrier of each row, or take the column out: what customers pay goes to no group")
		}
	}
	return c.count == before
}

func columnList() (names []string) {
	for name := range columnNames {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// exportColumns are the columns in the order in which Export writes them.
var exportColumns = [columnCount]string{
	"prefix", "carrier_id", "group", "rate", "currency", "increment", "min_duration", "effective_from", "effective_to",
	"tech_prefix", "number_policy", "priority",
}

func columnName(at int) string { return exportColumns[at] }

func otherwise(s, or string) string {
	if s == "" {
		return or
	}
	return s
}
