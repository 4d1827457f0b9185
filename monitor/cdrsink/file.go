package cdrsink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tandem-sbc/tandem/internal/durable"
)

// fileTarget appends to a file and has the disk confirm each batch.
type fileTarget struct {
	cfg  *Config
	f    *os.File // nil: not open
	size int64    // whole, synced lines
	born time.Time
}

func newFileTarget(cfg *Config) *fileTarget { return &fileTarget{cfg: cfg} }

func (t *fileTarget) send(_ context.Context, b *batch) error {
	now := time.Now()
	if err := t.ready(now, int64(len(b.text))); err != nil {
		t.close()
		return err
	}
	text := b.text
	if t.size == 0 && t.cfg.Format == CSV && t.cfg.Profile.Header {
		text = append(t.cfg.Profile.AppendHeader(nil), text...)
	}
	_, err := t.f.WriteAt(text, t.size)
	if err = errors.Join(err, t.f.Sync()); err != nil {
		// Half a line must not stay; if this fails too, the next try writes over it.
		err = errors.Join(err, t.f.Truncate(t.size))
		t.close()
		return fmt.Errorf("file: %w", err)
	}
	if t.size == 0 {
		t.born = now
	}
	t.size += int64(len(text))
	return nil
}

// ready opens the file, and puts it aside when it is full or its time is over.
func (t *fileTarget) ready(now time.Time, more int64) error {
	if t.f != nil && !t.same() {
		t.close() // somebody else has put it aside
	}
	if t.f == nil {
		if err := t.open(); err != nil {
			return err
		}
	}
	if t.size == 0 || t.size+more <= t.cfg.RotateSize && !t.aged(now) {
		return nil
	}
	aside, err := t.aside(now)
	if err != nil {
		return err
	}
	if err := os.Rename(t.cfg.Path, aside); err != nil {
		return fmt.Errorf("file: %w", err)
	}
	t.close()
	return t.open()
}

// aged reports whether a full RotateEvery of UTC has passed since the file began.
func (t *fileTarget) aged(now time.Time) bool {
	every := t.cfg.RotateEvery
	return every > 0 && now.Truncate(every).After(t.born)
}

// same reports whether the path still names the file that is open.
func (t *fileTarget) same() bool {
	at, err := os.Stat(t.cfg.Path)
	if err != nil {
		return false
	}
	open, err := t.f.Stat()
	return err == nil && os.SameFile(at, open)
}

// open opens the file. Part of a line at its end, which a crash may leave, is cut off.
func (t *fileTarget) open() error {
	if err := os.MkdirAll(filepath.Dir(t.cfg.Path), 0o750); err != nil {
		return fmt.Errorf("file: %w", err)
	}
	f, err := os.OpenFile(t.cfg.Path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		t.size, err = wholeLines(f, info.Size())
	}
	if err == nil && t.size < info.Size() {
		err = f.Truncate(t.size)
	}
	if err = errors.Join(err, durable.SyncDir(filepath.Dir(t.cfg.Path))); err != nil {
		return errors.Join(fmt.Errorf("file: %w", err), f.Close())
	}
	t.f, t.born = f, info.ModTime()
	return nil
}

// wholeLines is where the last line of a file ends.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	b := make([]byte, min(size, batchBytes))
	for end := size; end > 0; {
		b = b[:min(end, int64(len(b)))]
		if _, err := f.ReadAt(b, end-int64(len(b))); err != nil {
			return 0, err
		}
		if n := bytes.LastIndexByte(b, '\n'); n >= 0 {
			return end - int64(len(b)) + int64(n) + 1, nil
		}
		end -= int64(len(b))
	}
	return 0, nil
}

// aside finds a name that is free, with the time in it.
func (t *fileTarget) aside(now time.Time) (string, error) {
	ext := filepath.Ext(t.cfg.Path)
	base := t.cfg.Path[:len(t.cfg.Path)-len(ext)]
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s-%s-%d%s", base, now.UTC().Format("20060102T150405Z"), n, ext)
		_, err := os.Lstat(name)
		if errors.Is(err, os.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", fmt.Errorf("file: %w", err)
		}
	}
}

func (t *fileTarget) close() {
	if t.f != nil {
		_ = t.f.Close() // what counts was synced
		t.f = nil
	}
}
