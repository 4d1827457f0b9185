package cdrlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// lastSeq is the number of the last line of a file that ends in a line break, 0 for none.
func lastSeq(f io.ReaderAt, size int64) (uint64, error) {
	tail := make([]byte, min(size, tailLimit))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	tail = bytes.TrimSuffix(tail, []byte{'\n'})
	return seqOf(tail[bytes.LastIndexByte(tail, '\n')+1:]), nil
}

// seqOf is the number that a line begins with, 0 for none.
func seqOf(line []byte) uint64 {
	digits, ok := bytes.CutPrefix(line, []byte(seqKey))
	if !ok {
		return 0
	}
	if end := bytes.IndexByte(digits, ','); end >= 0 {
		digits = digits[:end]
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
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
	if err != nil && l.cfg.fs.exists(l.cfg.Path) {
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
	slices.SortStableFunc(list, func(a, b spoolFile) int { return cmpUint(a.first, b.first) })
	return slices.CompactFunc(list, func(a, b spoolFile) bool { return a.first == b.first }), nil
}

func cmpUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// head is the number of the first line of a file, 0 for none.
func (l *Log) head(path string) (uint64, error) {
	f, err := l.cfg.fs.read(path)
	if err != nil {
		return 0, err
	}
	var b [64]byte
	n, err := f.ReadAt(b[:], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return seqOf(b[:n]), errors.Join(err, f.Close())
}
