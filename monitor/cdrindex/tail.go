package cdrindex

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

const (
	// chunk is how much of a file is read and taken in one step. A line is shorter.
	chunk = 2 * cdrquery.MaxRow
	// stepRows bounds the records of one step: a question waits for no longer than it takes.
	stepRows = 500
	// printLength is how much of the first line tells a file from others. It has the call id.
	printLength = 512
)

// source is a file of records.
type source struct {
	path  string
	info  os.FileInfo
	print string // fingerprint: what the file is, whatever it is called
}

// stamp is what cdrlog puts between the name and its extension: the time, and a number.
var stamp = regexp.MustCompile(`^-(\d{8}T\d{6}Z)-(\d+)$`)

// sources lists the files of records, the oldest first, the current one last. Files
// without a whole line are left out.
func sources(current string) ([]source, error) {
	dir, ext := filepath.Dir(current), filepath.Ext(current)
	base := strings.TrimSuffix(filepath.Base(current), ext)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type aside struct{ name, time, number string }
	var names []aside
	for _, e := range entries {
		middle, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ext), base)
		if m := stamp.FindStringSubmatch(middle); ok && m != nil && strings.HasSuffix(e.Name(), ext) && e.Type().IsRegular() {
			names = append(names, aside{e.Name(), m[1], m[2]})
		}
	}
	slices.SortFunc(names, func(a, b aside) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(len(a.number), len(b.number)), cmp.Compare(a.number, b.number))
	})
	var list []source
	for _, n := range append(names, aside{name: filepath.Base(current)}) {
		s, err := identify(filepath.Join(dir, n.name))
		switch {
		case errors.Is(err, os.ErrNotExist): // removed, or put aside, in this moment
		case err != nil:
			return nil, err
		case s.print != "":
			list = append(list, s)
		}
	}
	return list, nil
}

// identify looks at the first line of a file.
func identify(path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	s := source{path: path}
	if s.info, err = f.Stat(); err != nil {
		return source{}, err
	}
	head := make([]byte, printLength)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return source{}, fmt.Errorf("read %s: %w", path, err)
	}
	s.print = fingerprint(head[:n])
	return s, nil
}

// fingerprint is what a file is known by: of its first line, as far as head reaches. It
// is empty while that line is being written.
func fingerprint(head []byte) string {
	if n := bytes.IndexByte(head, '\n'); n >= 0 {
		head = head[:n]
	} else if len(head) < printLength {
		return ""
	}
	sum := sha256.Sum256(head)
	return hex.EncodeToString(sum[:16])
}

// step is what one reading of a file gave.
type step struct {
	rows       []*cdrquery.Row
	done       int64 // where the next reading begins
	unreadable int   // lines that are no records
	reset      bool  // the file is not what it was before the place: it is read from its start
}

// read takes whole lines of a file from a place on, as many as one step bears. At the end
// of the file it gives no rows and the same place.
func (s *source) read(from int64, buffer []byte) (step, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return step{}, err
	}
	defer f.Close()
	if again, err := identifyOpen(f); err != nil || again != s.print {
		return step{}, errors.Join(err, errMoved)
	}
	begin := max(from-1, 0) // with the line break before it
	n, err := f.ReadAt(buffer, begin)
	if err != nil && !errors.Is(err, io.EOF) {
		return step{}, fmt.Errorf("read %s: %w", s.path, err)
	}
	text := buffer[:n]
	if from > 0 {
		if n == 0 || text[0] != '\n' {
			// Lines that were written and not synced have been cut off again, and others came.
			return step{done: 0, reset: true}, nil
		}
		text = text[1:]
	}
	got := take(text, from)
	if got.done == from && n == len(buffer) {
		return skip(f, from, buffer)
	}
	return got, nil
}

// skip passes over a line that is too long for a record. One that has no end yet is left
// where it is.
func skip(f *os.File, from int64, buffer []byte) (step, error) {
	for at := from; ; at += int64(len(buffer)) {
		n, err := f.ReadAt(buffer, at)
		if end := bytes.IndexByte(buffer[:n], '\n'); end >= 0 {
			return step{done: at + int64(end) + 1, unreadable: 1}, nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return step{done: from}, nil
		case err != nil:
			return step{}, fmt.Errorf("read: %w", err)
		}
	}
}

// errMoved says that another file has the name: a new listing finds both.
var errMoved = errors.New("the file has been put aside")

func identifyOpen(f *os.File) (string, error) {
	head := make([]byte, printLength)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return fingerprint(head[:n]), nil
}

// take parses the whole lines of text, which stands at a place of its file.
func take(text []byte, from int64) step {
	s := step{done: from}
	for len(s.rows) < stepRows {
		n := bytes.IndexByte(text, '\n')
		if n < 0 {
			break
		}
		line := text[:n]
		text = text[n+1:]
		s.done += int64(n) + 1
		if len(line) == 0 {
			continue
		}
		r, err := cdrquery.Parse(bytes.Clone(line))
		if err != nil {
			s.unreadable++
			continue
		}
		s.rows = append(s.rows, r)
	}
	return s
}
