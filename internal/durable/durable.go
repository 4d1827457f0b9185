package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Replace makes content that of a file in one step. It writes beside it first, to the name
// with ".new" behind it, so a file has one writer at a time.
func Replace(path string, content []byte, perm os.FileMode) error {
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", fresh, err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes new names in a directory outlast a power loss.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
