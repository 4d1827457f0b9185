package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tandem-sbc/tandem/internal/durable"
)

// writeDurable replaces a file in one step: after it returns, a crash leaves the new
// content; before, the old one. Never a mixture.
func writeDurable(path string, content []byte) error {
	fresh, err := writeTemp(path, content)
	if err != nil {
		return err
	}
	if err = os.Rename(fresh, path); err != nil {
		// The fault that counts is reported.
		_ = os.Remove(fresh)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return durable.SyncDir(filepath.Dir(path))
}

// createDurable is writeDurable for a file that is not there. When it is there by then, it
// stays as it is.
func createDurable(path string, content []byte) error {
	fresh, err := writeTemp(path, content)
	if err != nil {
		return err
	}
	switch err = os.Link(fresh, path); {
	case err == nil, errors.Is(err, fs.ErrExist):
		err = os.Remove(fresh)
	default: // a file system without links
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return durable.SyncDir(filepath.Dir(path))
}

// writeTemp writes a file beside path and returns its name.
func writeTemp(path string, content []byte) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp-*")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		// The fault that counts is reported.
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return f.Name(), nil
}
