package cdrlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// line is a record that is its own text.
type line string

func (l line) AppendJSON(dst []byte) ([]byte, error) {
	if strings.HasPrefix(string(l), "bad") {
		return append(dst, "half"...), errors.New("cannot encode")
	}
	return append(dst, l...), nil
}

func number(n int) line { return line(fmt.Sprintf(`{"n":%d}`, n)) }

// memFS is a disk in memory that fails as told.
type memFS struct {
	mu                   sync.Mutex
	files                map[string]*memFile
	openErr, renameErr   error
	writeErr, syncErr    error
	short                int // bytes that a failing write still puts down
	syncs, writes, opens int
	looking              func() error // before each look at a file
}

func newMemFS() *memFS { return &memFS{files: make(map[string]*memFile)} }

func (m *memFS) do(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *memFS) open(path string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opens++
	if m.openErr != nil {
		return nil, m.openErr
	}
	f := m.files[path]
	if f == nil {
		f = &memFile{fs: m}
		m.files[path] = f
	}
	return f, nil
}

func (m *memFS) rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.renameErr != nil {
		return m.renameErr
	}
	if m.files[from] == nil {
		return fs.ErrNotExist
	}
	m.files[to] = m.files[from]
	delete(m.files, from)
	return nil
}

func (m *memFS) exists(path string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.files[path] != nil
}

func (m *memFS) syncDir(string) error { return nil }

func (m *memFS) read(path string) (file, error) {
	if m.looking != nil {
		if err := m.looking(); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.files[path]; f != nil {
		return f, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memFS) asides(path string) (list []string, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.files {
		if isAside(path, name) {
			list = append(list, name)
		}
	}
	return list, nil
}

func (m *memFS) changed(path string) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.files[path].at, nil
}

func (m *memFS) remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, path)
	return nil
}

// seq is what a line begins with.
var seq = regexp.MustCompile(`(?m)^\{"seq":(\d+),`)

// plain takes the numbers off lines.
func plain(text string) string { return seq.ReplaceAllString(text, "{") }

// lines returns the lines of all files, those put aside first, and fails when a file does not end at a line break.
func (m *memFS) lines(t *testing.T) []string {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var names, all []string
	for name := range m.files {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		text := plain(string(m.files[name].data))
		if text == "" {
			continue
		}
		if !strings.HasSuffix(text, "\n") {
			t.Errorf("%s ends in %q", name, text[strings.LastIndexByte(text, '\n')+1:])
		}
		all = append(all, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
	}
	return all
}

type memFile struct {
	fs   *memFS
	data []byte
	at   time.Time
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	n := copy(p, f.data[min(off, int64(len(f.data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.writes++
	err := f.fs.writeErr
	if err != nil {
		p = p[:min(len(p), f.fs.short)]
	}
	if grow := int(off) + len(p) - len(f.data); grow > 0 {
		f.data = append(f.data, make([]byte, grow)...)
	}
	copy(f.data[off:], p)
	f.at = time.Now()
	return len(p), err
}

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return int64(len(f.data)), nil
}

func (f *memFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.data = f.data[:min(size, int64(len(f.data)))]
	return nil
}

func (f *memFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.syncs++
	return f.fs.syncErr
}

func (f *memFile) Close() error { return nil }
