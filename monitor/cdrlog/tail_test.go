package cdrlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// drained is what a tail has now, as "number:line".
func drained(t testing.TB, tail *Tail) (list []string) {
	t.Helper()
	for {
		line, seq, err := tail.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%d:%s", seq, plain(string(line))))
	}
}

func expected(from, to int) (list []string) {
	for n := from; n < to; n++ {
		list = append(list, fmt.Sprintf("%d:%s", n+1, number(n)))
	}
	return list
}

// Numbers have no hole over rotations and restarts, and a tail reads them all once.
func TestNumbersHaveNoHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		var at Position
		for run := range 5 {
			l := openMem(t, disk, func(c *Config) { c.MaxSize = 120 })
			tail := l.Tail(at)
			for n := range 20 {
				l.Write(number(20*run + n))
				if n%3 == 0 {
					time.Sleep(time.Second)
				}
				if n == 10 {
					synctest.Wait()
					at = tail.Position()
					if got := drained(t, tail); len(got) == 0 && run > 0 {
						t.Error("nothing to read")
					}
					tail = l.Tail(at) // as if it had not been kept
				}
			}
			stop(t, l)
			if got, want := drained(t, l.Tail(Position{})), expected(0, 20*run+20); !slices.Equal(got, want) {
				t.Fatalf("run %d:\ngot  %q\nwant %q", run, got, want)
			}
			got := drained(t, tail)
			if want := expected(20*run+20-len(got), 20*run+20); len(got) == 0 || !slices.Equal(got, want) || tail.Gaps() != 0 {
				t.Fatalf("run %d, from where it was: %d gaps\ngot  %q\nwant %q", run, tail.Gaps(), got, want)
			}
			at = tail.Position()
			tail.Close()
		}
	})
}

// A tail reads nothing that could still be lost.
func TestTailReadsWhatIsSyncedOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, func(c *Config) { c.MaxSize = 60 })
		wake := make(chan struct{}, 1)
		l.Notify(wake)
		tail := l.Tail(l.End())
		l.Write(number(0))
		synctest.Wait()
		<-wake
		if got := drained(t, tail); !slices.Equal(got, expected(0, 1)) {
			t.Fatalf("%q", got)
		}
		for n := 1; n < 3; n++ { // they are in the file, and not synced
			l.Write(number(n))
			time.Sleep(2 * stagePause)
		}
		if got := drained(t, tail); len(got) != 0 {
			t.Fatalf("before the sync: %q", got)
		}
		time.Sleep(time.Second)
		if got := drained(t, tail); !slices.Equal(got, expected(1, 3)) {
			t.Fatalf("%q", got)
		}
		for n := 3; n < 9; n++ { // too long for this file: the sync puts it aside first
			l.Write(number(n))
			time.Sleep(stagePause)
			drained(t, tail)
		}
		disk.do(func() { disk.syncErr = errors.New("broken") })
		time.Sleep(time.Second)
		disk.do(func() { disk.syncErr = nil })
		time.Sleep(time.Minute)
		stop(t, l)
		if got := drained(t, l.Tail(Position{})); !slices.Equal(got, expected(0, 9)) {
			t.Fatalf("%q", got)
		}
		if drained(t, tail); tail.Position().Next != 10 || tail.Gaps() != 0 {
			t.Errorf("%+v, %d gaps", tail.Position(), tail.Gaps())
		}
	})
}

// What was read with a record before its sync is there as soon as it is synced: nobody
// tells of it twice.
func TestTailReadsAgainWhatIsSyncedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openMem(t, newMemFS(), nil)
		tail := l.Tail(l.End())
		l.Write(number(0))
		synctest.Wait() // on disk
		for n := 1; n < 4; n++ {
			l.Write(number(n))
			time.Sleep(2 * stagePause) // in the file, not synced
		}
		if got := drained(t, tail); !slices.Equal(got, expected(0, 1)) {
			t.Fatalf("%q", got)
		}
		time.Sleep(time.Second)
		if got := drained(t, tail); !slices.Equal(got, expected(1, 4)) {
			t.Errorf("at once after the sync: %q", got)
		}
		stop(t, l)
	})
}

// A record that was lost leaves a hole, which is counted.
func TestLostRecordsLeaveAHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, func(c *Config) { c.Backlog = 2 })
		tail := l.Tail(l.End())
		disk.do(func() { disk.writeErr = errors.New("no space left on device") })
		for n := range 5 {
			l.Write(number(n))
		}
		time.Sleep(time.Second)
		if s := l.Stats(); !s.Failing || !strings.Contains(s.Reason, "no space left") || s.Refused != 3 {
			t.Errorf("%+v", s)
		}
		disk.do(func() { disk.writeErr = nil })
		time.Sleep(time.Minute)
		l.Write(line("bad"))
		l.Write(number(7))
		stop(t, l)
		want := []string{"4:" + string(number(0)), "5:" + string(number(1)), "7:" + string(number(7))}
		if got := drained(t, tail); !slices.Equal(got, want) || tail.Gaps() != 4 {
			t.Errorf("%d gaps, %q", tail.Gaps(), got)
		}
	})
}

// What an earlier version wrote has no numbers. It is put aside and left alone.
func TestSpoolOfAnEarlierVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cdr.jsonl")
	old := []byte("{\"n\":1}\n{\"n\":2}\n")
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	tail := l.Tail(l.End())
	l.Write(number(0))
	stop(t, l)
	if got := drained(t, tail); !slices.Equal(got, expected(0, 1)) {
		t.Errorf("%q", got)
	}
	tail.Close()
	asides, err := osFS{}.asides(path)
	if err != nil || len(asides) != 1 {
		t.Fatal(asides, err)
	}
	if b, err := os.ReadFile(asides[0]); err != nil || string(b) != string(old) {
		t.Errorf("%q, %v", b, err)
	}
	if n, err := l.Prune(time.Now().Add(time.Hour), 1000); n != 0 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
}

// A spool that was taken away begins anew, and readers with it.
func TestTailOfASpoolThatBeganAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openMem(t, newMemFS(), nil)
		l.Write(number(0))
		stop(t, l)
		if got := drained(t, l.Tail(Position{Next: 500, First: 400, Offset: 77})); !slices.Equal(got, expected(0, 1)) {
			t.Errorf("%q", got)
		}
	})
}

// Files go when all have them and their time is over, oldest first, and the current one never.
func TestPrune(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, func(c *Config) { c.MaxSize = 40 })
		for n := range 12 { // two records per file, an hour apart
			l.Write(number(n))
			time.Sleep(time.Hour)
		}
		files := len(disk.files)
		prune := func(age time.Duration, keep uint64) int {
			n, err := l.Prune(time.Now().Add(-age), keep)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		if n := prune(24*time.Hour, 13); n != 0 {
			t.Errorf("%d removed before their time", n)
		}
		if n := prune(0, 2); n != 0 {
			t.Errorf("%d removed that somebody lacks", n)
		}
		if n := prune(0, 5); n != 2 {
			t.Errorf("%d removed, want 2", n)
		}
		if n := prune(0, 1000); n != files-3 {
			t.Errorf("%d of %d removed, want all but the current one", n, files)
		}
		stop(t, l)
		tail := l.Tail(Position{Next: 3})
		if got := drained(t, tail); len(got) == 0 || tail.Gaps() == 0 {
			t.Errorf("%q, %d gaps", got, tail.Gaps())
		}
	})
}

// Whatever the disk does, and wherever the process is killed, a reader that keeps its
// place sees every record that is on disk, in order, and none twice.
func TestTailOverAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 60).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			disk := newMemFS()
			edit := func(c *Config) { c.MaxSize = 100 }
			l := openMem(t, disk, edit)
			tail := l.Tail(l.End())
			var seen []string
			n := 0
			for _, step := range steps {
				switch step {
				case 0, 1, 2:
					l.Write(number(n))
					n++
				case 3:
					time.Sleep(stagePause)
				case 4:
					disk.do(func() { disk.writeErr, disk.short = errors.New("full"), n%15 })
					time.Sleep(300 * time.Millisecond)
					disk.do(func() { disk.writeErr = nil })
				case 5:
					time.Sleep(20 * time.Second)
				case 6:
					at := tail.Position()
					tail.Close()
					stop(t, l)
					l = openMem(t, disk, edit)
					tail = l.Tail(at)
				}
				seen = append(seen, drained(t, tail)...)
			}
			stop(t, l)
			seen = append(seen, drained(t, tail)...)
			if want := expected(0, n); !slices.Equal(seen, want) {
				rt.Fatalf("got  %q\nwant %q", seen, want)
			}
		})
	})
}

// A rotation between two looks at the files is no error and no end: a tail that is at its last words
// passes everything on. In the midst of one the file of that name is not there.
func TestFilesChangePlacesWhileTheyAreLookedFor(t *testing.T) {
	for moment := range 8 {
		for _, midst := range []error{nil, fs.ErrNotExist} {
			synctest.Test(t, func(t *testing.T) {
				disk := newMemFS()
				l := openMem(t, disk, func(c *Config) { c.MaxSize = 120 })
				written := 0
				more := func(n int) {
					for range n {
						l.Write(number(written))
						written++
					}
					time.Sleep(time.Second)
					synctest.Wait()
				}
				more(3)
				tail := l.Tail(Position{})
				looks := 0
				disk.looking = func() error {
					if looks++; looks != moment+1 {
						return nil
					}
					disk.looking = nil // the writer looks too
					more(20)
					return midst
				}
				if got := drained(t, tail); !slices.Equal(got, expected(0, written)) {
					t.Errorf("at look %d (%v): %d of %d records", moment+1, midst, len(got), written)
				}
				tail.Close()
				stop(t, l)
			})
		}
	}
}
