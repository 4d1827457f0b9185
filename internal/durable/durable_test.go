package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file is replaced whole, also over what an earlier try left beside it, and with the mode
// that was asked for.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "place")
	if err := os.WriteFile(path+".new", []byte("left behind, and longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"first", "second one", ""} {
		if err := Replace(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v; want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left beside it: %v", err)
	}
}

// What cannot be written leaves the file as it was.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "place")
	if err := os.Mkdir(path+".new", 0o700); err != nil { // where it would be written
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new"), 0o600); err == nil {
		t.Error("written over a directory")
	}
	if got, _ := os.ReadFile(path); string(got) != "as it was" {
		t.Errorf("%q", got)
	}
	if err := SyncDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}
