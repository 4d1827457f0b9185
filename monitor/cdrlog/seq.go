package cdrlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"time"
)

// resume finds the number of the next record: behind the last one in the current file or,
// when that is empty, in the last one that was put aside. A file whose records have no
// numbers, as earlier versions wrote them, is put aside: nothing of it is passed on.
func (w *writer) resume() error {
	l := w.log
	w.next = 1
	if w.out.size > 0 {
		last, err := lastSeq(w.out.f, w.out.size)
		switch {
		case err != nil:
			return errors.Join(fmt.Errorf("read %s: %w", l.cfg.Path, err), w.out.f.Close())
		case last == 0:
			if err := w.out.rotate(time.Now()); err != nil {
				return err
			}
			w.out = nil
		default:
			w.next = last + 1
		}
	}
	if w.next == 1 {
		last, err := l.lastAside()
		if err != nil {
			return err
		}
		w.next = last + 1
	}
	l.through.Store(w.next - 1)
	return nil
}

// lastAside is the highest number in the files that were put aside.
func (l *Log) lastAside() (uint64, error) {
	files, err := l.files()
	if err != nil || len(files) == 0 {
		return 0, err
	}
	f, err := l.cfg.fs.read(files[len(files)-1].path)
	if err != nil {
		return 0, err
	}
	size, err := f.Size()
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	last, err := lastSeq(f, size)
	return last, errors.Join(err, f.Close())
}

// lastSeq is the number of the last line of a file that has one, 0 for none. What a disk
// has spoilt behind it has none.
func lastSeq(f io.ReaderAt, size int64) (uint64, error) {
	b := make([]byte, tailLimit)
	for end := size; end > 0; {
		part := b[:min(end, tailLimit)]
		begin := end - int64(len(part))
		if _, err := f.ReadAt(part, begin); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for rest := part; len(rest) > 0; {
			n := bytes.LastIndex(rest, []byte(seqKey))
			if n < 0 {
				break
			}
			if begin+int64(n) == 0 || n > 0 && rest[n-1] == '\n' {
				if seq := seqOf(part[n:]); seq > 0 {
					return seq, nil
				}
			}
			rest = rest[:n]
		}
		if end = begin + int64(overlap); begin == 0 {
			break
		}
	}
	return 0, nil
}

// overlap is how much of what was read is read again with what lies before it: more than
// the beginning of a line up to its number, and the line break before it.
const overlap = 64

// seqOf is the number that a line begins with, 0 for none.
func seqOf(line []byte) uint64 {
	digits, ok := bytes.CutPrefix(line, []byte(seqKey))
	if !ok {
		return 0
	}
	end := bytes.IndexByte(digits[:min(len(digits), 21)], ',')
	if end < 0 {
		return 0
	}
	n, err := strconv.ParseUint(string(digits[:end]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// spoolFile is a file of the spool with the number of its first record.
type spoolFile struct {
	path  string
	first uint64
}

// files returns the files of the spool whose records have numbers, oldest first. The
// current one is looked at before those that were put aside: one that is put aside
// meanwhile is found once, and never missed.
func (l *Log) files() ([]spoolFile, error) {
	current, err := l.head(l.cfg.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.cfg.fs.exists(l.cfg.Path):
		return nil, errMoved // a new one has begun meanwhile
	case err != nil && l.cfg.fs.exists(l.cfg.Path):
		return nil, err
	}
	asides, err := l.cfg.fs.asides(l.cfg.Path)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	heads := make(map[string]uint64, len(asides))
	var list []spoolFile
	for _, path := range asides {
		first, known := l.heads[path]
		if !known {
			if first, err = l.head(path); err != nil {
				continue // taken away meanwhile, or not to be read: a hole will show
			}
		}
		heads[path] = first
		if first > 0 {
			list = append(list, spoolFile{path, first})
		}
	}
	l.heads = heads
	if current > 0 {
		list = append(list, spoolFile{l.cfg.Path, current})
	}
	slices.SortStableFunc(list, func(a, b spoolFile) int { return cmp.Compare(a.first, b.first) })
	return slices.CompactFunc(list, func(a, b spoolFile) bool { return a.first == b.first }), nil
}

// head is the number of the first line of a file that has one, 0 for none.
func (l *Log) head(path string) (uint64, error) {
	f, err := l.cfg.fs.read(path)
	if err != nil {
		return 0, err
	}
	first, err := firstSeq(f)
	return first, errors.Join(err, f.Close())
}

// headLimit is how far into a file its first number is looked for: what a disk has spoilt
// at its beginning must not hide the rest. A file of an earlier version has none.
const headLimit = 4 << 20

// firstSeq is the number of the first line that has one, 0 for none.
func firstSeq(f io.ReaderAt) (uint64, error) {
	var b [64]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if first := seqOf(b[:n]); first > 0 || n == 0 {
		return first, nil
	}
	part := make([]byte, headLimit)
	if n, err = f.ReadAt(part, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	for part = part[:n]; ; {
		n := bytes.Index(part, []byte("\n"+seqKey))
		if n < 0 {
			return 0, nil
		}
		part = part[n+1:]
		if first := seqOf(part); first > 0 {
			return first, nil
		}
	}
}
