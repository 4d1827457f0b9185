package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLine bounds what is read of one line in bytes.
const maxLine = 64 << 10

// files are the newest file, which grows, and the older ones.
type files struct {
	path string
	max  int64
	keep int
	f    *os.File
	size int64
}

// open opens the newest file, and ends a line that a crash has torn.
func (s *files) open() error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		var last [1]byte
		if _, err = f.ReadAt(last[:], info.Size()-1); err == nil && last[0] != '\n' {
			_, err = f.WriteString("\n")
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("audit: %w", err), f.Close())
	}
	s.f, s.size = f, info.Size()
	return nil
}

// append writes whole lines and sees them on disk.
func (s *files) append(text []byte) error {
	if s.f == nil {
		if err := s.open(); err != nil {
			return err
		}
	}
	if s.size > 0 && s.size+int64(len(text)) > s.max {
		if err := s.rotate(); err != nil {
			return err
		}
	}
	n, err := s.f.Write(text)
	s.size += int64(n)
	if err != nil {
		return errors.Join(err, s.close()) // open ends the torn line
	}
	return s.f.Sync()
}

func (s *files) name(i int) string { return fmt.Sprintf("%s.%d", s.path, i) }

// rotate puts the newest file aside. A crash in between leaves a gap in the numbers, which reading passes over.
func (s *files) rotate() error {
	if err := s.close(); err != nil {
		return err
	}
	for i := s.keep - 1; i > 0; i-- {
		if err := os.Rename(s.name(i), s.name(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(s.path, s.name(1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *files) close() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	return err
}

// readers opens all files, the oldest first.
func (s *files) readers() (list []*os.File, err error) {
	for i := s.keep; i >= 0; i-- {
		name := s.path
		if i > 0 {
			name = s.name(i)
		}
		f, openErr := os.Open(name)
		switch {
		case openErr == nil:
			list = append(list, f)
		case !errors.Is(openErr, fs.ErrNotExist):
			err = errors.Join(err, openErr)
		}
	}
	return list, err
}

// scan reads the newest entries of one file that a query wants.
func scan(r io.Reader, q *Query) (list []Entry, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) != nil || !q.wants(&e) {
			continue
		}
		if list = append(list, e); len(list) >= 2*q.Limit {
			list = append(list[:0], list[len(list)-q.Limit:]...)
		}
	}
	return list[max(0, len(list)-q.Limit):], lines.Err()
}
