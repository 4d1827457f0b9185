package cdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// Position is a place in the spool, which outlives the process. The zero value is the
// oldest record that there is.
type Position struct {
	Next   uint64 `json:"next"`             // number of the record behind the place
	First  uint64 `json:"first,omitempty"`  // of the file: the number of its first record
	Offset int64  `json:"offset,omitempty"` // in that file
}

// End is the place behind the last record that is on disk now.
func (l *Log) End() Position { return Position{Next: l.through.Load() + 1} }

// Through is the number of the last record that is on disk.
func (l *Log) Through() uint64 { return l.through.Load() }

// Notify has something sent to c, without waiting for room, whenever records have reached
// the disk.
func (l *Log) Notify(c chan<- struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watchers = append(l.watchers, c)
}

// tell wakes those that read the spool.
func (l *Log) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.watchers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Tail reads the spool in its order, across files. It returns nothing that is not on disk
// for good: what stands in the file before its sync may be written again elsewhere. One
// goroutine uses it.
type Tail struct {
	log  *Log
	at   Position
	f    file // nil: to be found
	full bool // a later file exists, so this one gets no more
	// chunk was read at at.Offset, when everything up to bound was on disk.
	chunk []byte
	bound uint64
	read  []byte // what chunk is a part of
	gaps  uint64
}

const (
	chunkSize = 256 << 10
	// maxLine is how long a line may be: some hundred times a record.
	maxLine = 16 << 20
	// lookAgain is how often files are looked for that change places meanwhile: a rotation is two steps.
	lookAgain = 10
)

// errMoved says that a file was put aside, or taken away, between two looks at it.
var errMoved = errors.New("cdrlog: files of the spool have changed places")

// Tail begins at a place. One that is behind everything there is, as after the spool was
// taken away, is taken for the oldest record.
func (l *Log) Tail(p Position) *Tail {
	if p.Next > l.through.Load()+1 {
		p = Position{}
	}
	return &Tail{log: l, at: p}
}

// Position is the place behind the last line that Next returned.
func (t *Tail) Position() Position { return t.at }

// Gaps is how many numbers were missing so far: records that were lost before they
// reached the disk, or that were taken away from it.
func (t *Tail) Gaps() uint64 { return t.gaps }

// Next returns the next record, without its line break, and its number. The line is valid
// until the next call. The error is io.EOF when nothing more is on disk now.
func (t *Tail) Next() (line []byte, seq uint64, err error) {
	for {
		if t.at.Next > t.log.through.Load() {
			return nil, 0, io.EOF
		}
		if t.f == nil {
			if err := t.find(); err != nil {
				return nil, 0, err
			}
		}
		line, err := t.line()
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF):
			return nil, 0, err
		default:
			if err := t.turn(); err != nil {
				return nil, 0, err
			}
			continue
		}
		seq := seqOf(line)
		if seq > t.bound {
			t.chunk = nil // it was not on disk for good: read it again when it is
			if t.bound < t.log.through.Load() {
				continue
			}
			return nil, 0, io.EOF
		}
		t.chunk = t.chunk[len(line)+1:]
		t.at.Offset += int64(len(line)) + 1
		if seq < t.at.Next {
			continue // seen, or no record
		}
		if t.at.Next > 0 {
			t.gaps += seq - t.at.Next
		}
		t.at.Next = seq + 1
		return line, seq, nil
	}
}

// find opens the file that the place is in.
func (t *Tail) find() (err error) {
	for range lookAgain {
		if err = t.look(); !errors.Is(err, errMoved) {
			return err
		}
	}
	return err
}

// look opens the last file that begins at or before the place, or else the oldest.
func (t *Tail) look() error {
	files, err := t.log.files()
	if err != nil {
		return fmt.Errorf("cdrlog: %w", err)
	}
	if len(files) == 0 {
		return io.EOF
	}
	n := max(slices.IndexFunc(files, func(f spoolFile) bool { return f.first > t.at.Next }), -1)
	switch n {
	case -1:
		n = len(files) - 1
	case 0:
	default:
		n--
	}
	return t.open(files[n], n+1 < len(files))
}

// open opens a file. It may have been put aside since it was looked at, and another one
// have its name: then the error is errMoved.
func (t *Tail) open(s spoolFile, full bool) error {
	f, err := t.log.cfg.fs.read(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	if err != nil {
		return fmt.Errorf("cdrlog: %w", err)
	}
	first, err := firstSeq(f)
	if err != nil {
		return errors.Join(fmt.Errorf("cdrlog: %w", err), f.Close())
	}
	if first != s.first {
		return errors.Join(errMoved, f.Close())
	}
	if t.at.First != s.first || !begins(f, t.at.Offset) {
		t.at.First, t.at.Offset = s.first, 0
	}
	t.f, t.full, t.chunk = f, full, nil
	return nil
}

// begins reports whether a line begins at an offset: a place that was spoilt, or is of a
// file that somebody has shortened, is found anew by its number.
func begins(f io.ReaderAt, offset int64) bool {
	if offset <= 0 {
		return offset == 0
	}
	var b [1]byte
	n, _ := f.ReadAt(b[:], offset-1) // what cannot be read begins nothing
	return n == 1 && b[0] == '\n'
}

// turn goes to the next file, if there is one and this one is read to its end. The error
// is io.EOF when there is nothing more now.
func (t *Tail) turn() error {
	files, err := t.log.files()
	if errors.Is(err, errMoved) {
		t.Close()
		return nil // to be found at its place
	}
	if err != nil {
		return fmt.Errorf("cdrlog: %w", err)
	}
	if !t.full {
		if n := len(files); n == 0 || files[n-1].first <= t.at.First {
			return io.EOF
		}
		t.full = true // what came before the other file began is read first
		return nil
	}
	n := slices.IndexFunc(files, func(f spoolFile) bool { return f.first > t.at.First })
	if n < 0 {
		return io.EOF
	}
	t.Close()
	if err := t.open(files[n], n+1 < len(files)); !errors.Is(err, errMoved) {
		return err
	}
	return nil // to be found at its place
}

// line returns the line at the place. The error is io.EOF when no whole one is there.
func (t *Tail) line() ([]byte, error) {
	if end := bytes.IndexByte(t.chunk, '\n'); end >= 0 {
		return t.chunk[:end], nil
	}
	for size := chunkSize; ; size *= 4 {
		if len(t.read) < size {
			t.read = make([]byte, size)
		}
		t.bound = t.log.through.Load() // before the read: what is read then is at least as new
		n, err := t.f.ReadAt(t.read[:size], t.at.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("cdrlog: %w", err)
		}
		t.chunk = t.read[:n]
		if end := bytes.IndexByte(t.chunk, '\n'); end >= 0 {
			return t.chunk[:end], nil
		}
		if n < size {
			return nil, io.EOF
		}
		if size >= maxLine {
			return nil, fmt.Errorf("cdrlog: a line of more than %d bytes at %d of the file that begins with record %d", maxLine, t.at.Offset, t.at.First)
		}
	}
}

// Close lets go of the file. The tail goes on at the next call of Next.
func (t *Tail) Close() {
	if t.f != nil {
		_ = t.f.Close() // it was only read
		t.f, t.chunk = nil, nil
	}
}
