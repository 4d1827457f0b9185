package spool

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/sbc/charging"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, limit int) *Spool {
	t.Helper()
	s, err := Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shut(t *testing.T, s *Spool) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func stop(id string) *charging.Request {
	return &charging.Request{Session: id, Kind: charging.Stop, Number: 1, Used: 12, At: epoch, Call: charging.Call{ID: id}}
}

// TestS101_KeptOverRestarts: what was not done is there again, in order, marked as repeated; wills are
// carried out at the last sign of life.
func TestS101_KeptOverRestarts(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	first, _ := s.Keep(stop("a"))
	if _, err := s.Keep(stop("b")); err != nil {
		t.Fatal(err)
	}
	s.Done(first)
	update := charging.Request{Session: "c", Kind: charging.Update, Number: 1, Used: 9, At: epoch.Add(10 * time.Second)}
	s.Will("c", &charging.Will{
		Before: &update, From: epoch, Told: 9, Last: charging.Request{Session: "c", Kind: charging.Termination, Number: 2, At: epoch.Add(10 * time.Second)},
	})
	s.Will("d", &charging.Will{Last: charging.Request{Session: "d", Kind: charging.Termination, At: epoch}})
	s.Gone("d")
	s.Beat(epoch.Add(30 * time.Second))
	shut(t, s)

	for range 2 { // the second time as the first one
		s = open(t, dir, 0)
		got := s.Items()
		shut(t, s)
		if len(got) != 3 {
			t.Fatalf("kept %+v, want three", got)
		}
		for i, want := range []struct {
			session string
			kind    charging.Kind
			used    int64
		}{{"b", charging.Stop, 12}, {"c", charging.Update, 9}, {"c", charging.Termination, 21}} {
			r := got[i].Request
			if r.Session != want.session || r.Kind != want.kind || r.Used != want.used || i < 2 && !r.Repeated {
				t.Errorf("item %d is %+v, want %+v", i, r, want)
			}
		}
	}
}

// TestS101_DamagedJournal: a torn or strange line costs itself alone.
func TestS101_DamagedJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 0)
	_, _ = s.Keep(stop("a"))
	shut(t, s)
	path := filepath.Join(dir, fileName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := append(append([]byte("\x00\x01garbage\n"), text...), text[:len(text)/2]...)
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, 0)
	_, damaged, _ := s.Status()
	if got := s.Items(); len(got) != 1 || damaged != 2 {
		t.Errorf("kept %d with %d damaged lines, want 1 and 2", len(got), damaged)
	}
	shut(t, s)
}

// TestS101_SpoolIsBounded: beyond its bound the spool says no.
func TestS101_SpoolIsBounded(t *testing.T) {
	s := open(t, t.TempDir(), 2)
	defer shut(t, s)
	_, _ = s.Keep(stop("a"))
	_, _ = s.Keep(stop("b"))
	if _, err := s.Keep(stop("c")); !errors.Is(err, ErrFull) {
		t.Errorf("the third of two: %v", err)
	}
}

// TestS101_DiskThatFails: nothing is lost while the process lives, and all is written when the disk
// takes it again.
func TestS101_DiskThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "charging")
	s := open(t, dir, 0)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Keep(stop("a"))
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Keep(stop("b"))
	for end := time.Now().Add(20 * time.Second); ; {
		if b, _ := os.ReadFile(filepath.Join(dir, fileName)); bytes.Count(b, []byte("\n")) == 2 {
			break
		}
		if time.Now().After(end) {
			_, _, fault := s.Status()
			t.Fatalf("not written; fault %v", fault)
		}
		<-time.After(5 * time.Millisecond)
	}
	shut(t, s)
	s = open(t, dir, 0)
	defer shut(t, s)
	if got := s.Items(); len(got) != 2 {
		t.Errorf("kept %d, want 2", len(got))
	}
}

// FuzzJournal: whatever stands in the file, the spool opens, and a second reading gives the same.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"keep":1,"request":{"Session":"a","Kind":6,"Used":12}}` + "\n" + `{"done":1}` + "\n"))
	f.Add([]byte(`{"open":"s","will":{"Last":{"Session":"s","Kind":3},"From":"2026-03-02T06:00:00Z","Told":3}}` + "\n" + `{"beat":"2026-03-02T06:01:00Z"}`))
	f.Add([]byte("{\n\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		first := len(s.Items())
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(dir, 0); err != nil {
			t.Fatal(err)
		}
		if again := len(s.Items()); again != first {
			t.Fatalf("%d items, then %d", first, again)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
