package cdrsink

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr/profile"
)

// lines are those of several records as a batch has them.
func lines(t *testing.T, from, to int) *batch {
	t.Helper()
	b := &batch{first: uint64(from + 1), last: uint64(to), count: to - from}
	for n := from; n < to; n++ {
		text, err := call(n).AppendJSON(b.text)
		if err != nil {
			t.Fatal(err)
		}
		b.text = append(text, '\n')
		b.ends = append(b.ends, len(b.text))
		b.at = append(b.at, call(n).End)
	}
	return b
}

// all is what is in a file and those put aside beside it, in the order of their names.
func all(t *testing.T, path string) (list []string) {
	t.Helper()
	ext := filepath.Ext(path)
	files, err := filepath.Glob(strings.TrimSuffix(path, ext) + "-*" + ext)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, path) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, ids(t, b)...)
	}
	return list
}

func TestFileRotatesBySize(t *testing.T) {
	cfg := sinkConfig("f", File)
	cfg.Path, cfg.RotateSize = filepath.Join(t.TempDir(), "sub", "out.jsonl"), 2000
	target := newFileTarget(&cfg)
	defer target.close()
	for n := range 10 {
		if err := target.send(t.Context(), lines(t, 2*n, 2*n+2)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(cfg.Path); err != nil || info.Size() > cfg.RotateSize {
			t.Fatal(info.Size(), err)
		}
	}
	if got := all(t, cfg.Path); !slices.Equal(got, calls(0, 20)) {
		t.Errorf("%v", got)
	}
}

func TestFileRotatesByTime(t *testing.T) {
	cfg := sinkConfig("f", File)
	cfg.RotateEvery = 24 * time.Hour
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	target := &fileTarget{cfg: &cfg, born: at("2026-03-02T22:00:00Z")}
	for now, want := range map[string]bool{"2026-03-02T23:59:59Z": false, "2026-03-03T00:00:00Z": true, "2026-03-05T12:00:00Z": true, "2026-03-03T01:00:00+02:00": false} {
		if target.aged(at(now)) != want {
			t.Errorf("%s: %v", now, !want)
		}
	}
	cfg.RotateEvery = 0
	if target.aged(at("2030-01-01T00:00:00Z")) {
		t.Error("it goes though it should stay")
	}
}

// Part of a line is cut off, and every file of CSV has its header once.
func TestFileAfterACrash(t *testing.T) {
	cfg := sinkConfig("f", File)
	cfg.Path, cfg.Format, cfg.Profile = filepath.Join(t.TempDir(), "out.csv"), CSV, profile.Named("46labs")
	row := &batch{text: []byte("1,2\n"), count: 1}
	send := func() {
		t.Helper()
		target := newFileTarget(&cfg)
		defer target.close()
		if err := target.send(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	send()
	f, err := os.OpenFile(cfg.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half a li"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	send()
	got, err := os.ReadFile(cfg.Path)
	if want := string(cfg.Profile.AppendHeader(nil)) + "1,2\n1,2\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

// What logrotate puts aside is left alone, and a new file begun.
func TestFilePutAsideByOthers(t *testing.T) {
	cfg := sinkConfig("f", File)
	cfg.Path = filepath.Join(t.TempDir(), "out.jsonl")
	target := newFileTarget(&cfg)
	defer target.close()
	for n := range 3 {
		if err := target.send(t.Context(), lines(t, n, n+1)); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			if err := os.Rename(cfg.Path, cfg.Path+".1"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := all(t, cfg.Path); !slices.Equal(got, calls(1, 3)) {
		t.Errorf("%v", got)
	}
	if got := all(t, cfg.Path+".1"); !slices.Equal(got, calls(0, 1)) {
		t.Errorf("%v", got)
	}
}

// A directory in its way is an error that says so, and no more.
func TestFileCannotBeOpened(t *testing.T) {
	cfg := sinkConfig("f", File)
	cfg.Path = t.TempDir()
	target := newFileTarget(&cfg)
	defer target.close()
	if err := target.send(t.Context(), lines(t, 0, 1)); err == nil || !strings.Contains(err.Error(), cfg.Path) {
		t.Error(err)
	}
}
