package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that is listed has a page, hidden ones have none, and two builds give the same octets.
func TestManPages(t *testing.T) {
	write := func() (dir string) {
		dir = t.TempDir()
		var errs bytes.Buffer
		env := func(k string) string { return map[string]string{"SOURCE_DATE_EPOCH": "1764547200"}[k] }
		if code := run(context.Background(), []string{"man", dir}, console{out: io.Discard, err: &errs, env: env}); code != 0 {
			t.Fatalf("%d: %s", code, errs.String())
		}
		return dir
	}
	one, two := write(), write()
	read := func(dir, name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	list, err := os.ReadDir(one)
	if err != nil || len(list) < 50 {
		t.Fatalf("%d pages, %v", len(list), err)
	}
	for _, f := range list {
		if text := read(one, f.Name()); text != read(two, f.Name()) {
			t.Errorf("%s differs from build to build", f.Name())
		}
	}
	page := read(one, "tandem-node-drain.1")
	for _, want := range []string{
		`.TH "TANDEM-NODE-DRAIN" 1 "2025-12-01"`, `tandem\-node\-drain \- Take the asked node out of service`,
		`.B \-\-wait duration`, ".SH \"GLOBAL OPTIONS\"", `.BR tandem\-node (1)`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if _, err := os.Stat(filepath.Join(one, "tandem-man.1")); err == nil {
		t.Error("the hidden command has a page")
	}
	if got, want := roff(".x\n'y \\n a-b"), "\\&.x\n\\&'y \\en a\\-b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
