package cdrlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/internal/durable"
)

// filesystem is the part of the os package that the log uses.
type filesystem interface {
	open(path string) (file, error)
	rename(from, to string) error
	exists(path string) bool
	syncDir(path string) error
	// read opens a file that is there, to read it.
	read(path string) (file, error)
	// asides returns the paths of the files that were put aside.
	asides(path string) ([]string, error)
	// changed is when a file was last written to.
	changed(path string) (time.Time, error)
	remove(path string) error
}

// file is the part of os.File that the log uses.
type file interface {
	io.ReaderAt
	io.WriterAt
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

type osFS struct{}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (osFS) open(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) read(path string) (file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) asides(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if name := filepath.Join(filepath.Dir(path), e.Name()); isAside(path, name) {
			list = append(list, name)
		}
	}
	return list, nil
}

func (osFS) changed(path string) (time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func (osFS) remove(path string) error { return os.Remove(path) }

func (osFS) rename(from, to string) error { return os.Rename(from, to) }

func (osFS) exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// syncDir makes a new or renamed directory entry survive a power loss.
func (osFS) syncDir(path string) error {
	return durable.SyncDir(filepath.Dir(path))
}

// out is the open file. Its size is what holds whole, synced lines; bytes behind it are remains of a failed try and are written over.
type out struct {
	cfg  *Config
	f    file
	size int64
}

// tailLimit is how much recovery reads at once from the end of a file, which is more than a record can have.
const tailLimit = 1 << 20

// openOut opens the file and repairs its end: a crash may have left part of a line.
func openOut(cfg *Config) (*out, error) {
	f, err := cfg.fs.open(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	o := &out{cfg: cfg, f: f}
	if err := errors.Join(o.recover(), cfg.fs.syncDir(cfg.Path)); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", cfg.Path, err), f.Close())
	}
	return o, nil
}

// recover ends the file at a line break. A last line that is whole but for its line break is kept; part of a record is cut off, and so is
// what a power loss left where nothing was written yet. What is there is on disk for good when it returns.
func (o *out) recover() error {
	size, err := o.f.Size()
	if err != nil {
		return err
	}
	whole, last, err := lastLine(o.f, size)
	if err != nil {
		return err
	}
	o.size = size
	switch {
	case whole == size:
	case json.Valid(last):
		if _, err := o.f.WriteAt([]byte{'\n'}, size); err != nil {
			return err
		}
		o.size++
	default:
		o.size = whole
		o.cfg.Logger.Warn("call record file ends in part of a record: cut off", "path", o.cfg.Path, "bytes", size-whole)
		if err := o.f.Truncate(o.size); err != nil {
			return err
		}
	}
	if size == 0 {
		return nil
	}
	return o.f.Sync() // a process that was killed may have left it to the kernel
}

// lastLine is where the last whole line of a file ends, and what stands behind it: nothing when that is more than a record can have.
func lastLine(f file, size int64) (whole int64, last []byte, err error) {
	tail := make([]byte, min(size, tailLimit))
	for end := size; end > 0; {
		part := tail[:min(end, tailLimit)]
		begin := end - int64(len(part))
		if _, err := f.ReadAt(part, begin); err != nil && !errors.Is(err, io.EOF) {
			return 0, nil, err
		}
		if n := bytes.LastIndexByte(part, '\n'); n >= 0 {
			whole, part = begin+int64(n)+1, part[n+1:]
			begin = whole
		}
		switch {
		case end == size && (whole > 0 || begin == 0):
			return whole, part, nil
		case whole > 0:
			return whole, nil, nil
		}
		end = begin
	}
	return 0, nil, nil
}

// append writes whole lines and syncs them. On error nothing counts as written.
func (o *out) append(lines []byte) error {
	if _, err := o.f.WriteAt(lines, o.size); err != nil {
		// A later crash must not find half a line followed by nothing; if this fails too, the next try writes over it.
		return errors.Join(fmt.Errorf("write %s: %w", o.cfg.Path, err), o.f.Truncate(o.size))
	}
	if !o.cfg.NoSync {
		if err := o.f.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", o.cfg.Path, err)
		}
	}
	o.size += int64(len(lines))
	return nil
}

// finish takes off what a failed try left behind the last whole line.
func (o *out) finish() error {
	if err := errors.Join(o.f.Truncate(o.size), o.f.Sync()); err != nil {
		return fmt.Errorf("finish %s: %w", o.cfg.Path, err)
	}
	return nil
}

// rotate puts the file aside. The caller opens a new one.
func (o *out) rotate(now time.Time) error {
	if err := o.finish(); err != nil {
		return err
	}
	base, ext := split(o.cfg.Path)
	stamp := now.UTC().Format(asideStamp)
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s-%s-%d%s", base, stamp, n, ext)
		if o.cfg.fs.exists(aside) {
			continue
		}
		if err := o.cfg.fs.rename(o.cfg.Path, aside); err != nil {
			return fmt.Errorf("rotate: %w", err)
		}
		return errors.Join(o.f.Close(), o.cfg.fs.syncDir(o.cfg.Path))
	}
}

// asideStamp is how the name of a file that was put aside has the time.
const asideStamp = "20060102T150405Z"

// split splits a path before its extension.
func split(path string) (base, ext string) {
	ext = filepath.Ext(path)
	return path[:len(path)-len(ext)], ext
}

// isAside reports whether a name is one that rotate gives: the path, a time, a number.
func isAside(path, name string) bool {
	base, ext := split(path)
	middle, ok := strings.CutPrefix(name, base+"-")
	if !ok || !strings.HasSuffix(middle, ext) {
		return false
	}
	stamp, number, ok := strings.Cut(strings.TrimSuffix(middle, ext), "-")
	if _, err := strconv.ParseUint(number, 10, 32); !ok || err != nil {
		return false
	}
	_, err := time.Parse(asideStamp, stamp)
	return err == nil
}
