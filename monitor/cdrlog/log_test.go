package cdrlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openMem opens a log on a disk in memory.
func openMem(t *testing.T, disk *memFS, edit func(*Config)) *Log {
	t.Helper()
	cfg := Config{Path: "/cdr/calls.jsonl", fs: disk}
	if edit != nil {
		edit(&cfg)
	}
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stop(t *testing.T, l *Log) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := l.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func numbers(from, to int) (list []string) {
	for n := from; n < to; n++ {
		list = append(list, string(number(n)))
	}
	return list
}

// On a real file: every accepted record is on disk after Stop, each once, in the order of one writer's Writes.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	l, err := Open(Config{Path: path, MaxSize: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 1000 {
				if !l.Write(line(fmt.Sprintf(`{"w":%d,"n":%d}`, w, n))) {
					t.Error("refused")
				}
			}
		})
	}
	wg.Wait()
	stop(t, l)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "calls*.jsonl"))
	if err != nil || len(files) < 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	seen := make(map[string]bool)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 128<<10 {
			t.Errorf("%s has %d bytes", f, len(text))
		}
		for line := range strings.Lines(plain(string(text))) {
			if seen[line] {
				t.Errorf("twice: %s", line)
			}
			seen[line] = true
		}
	}
	if s := l.Stats(); len(seen) != 8000 || s.Written != 8000 || s.Backlog != 0 {
		t.Errorf("%d lines, %+v", len(seen), s)
	}
	if l.Write(number(1)) {
		t.Error("a stopped log accepts records")
	}
}

func TestOrderAndRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, func(c *Config) { c.MaxSize = 40 })
		for n := range 20 {
			l.Write(number(n))
			time.Sleep(time.Second)
		}
		stop(t, l)
		if got := disk.lines(t); !slices.Equal(got, numbers(0, 20)) {
			t.Errorf("lines %q", got)
		}
		if len(disk.files) < 5 {
			t.Errorf("%d files", len(disk.files))
		}
	})
}

// Records that come while one sync runs share the next one.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, nil)
		synctest.Wait()
		var before, syncs int
		disk.do(func() { before = disk.syncs })
		for n := range 1000 {
			l.Write(number(n))
			time.Sleep(time.Millisecond)
		}
		disk.do(func() { syncs = disk.syncs - before })
		if syncs > 12 {
			t.Errorf("%d syncs in one second", syncs)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if s := l.Stats(); s.Written != 1000 {
			t.Errorf("%d records on disk 200 ms after the last", s.Written)
		}
		stop(t, l)
	})
}

// What waits for its sync is with the kernel already: a process that is killed
// loses no more than the last few milliseconds.
func TestRecordsAreWrittenBeforeTheirSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, nil)
		l.Write(number(0))
		synctest.Wait() // written and synced; the group commit's pause has begun
		var before int
		disk.do(func() { before = disk.syncs })
		for n := range 10 {
			l.Write(number(n + 1))
			time.Sleep(2 * stagePause)
			synctest.Wait()
			if got := len(disk.lines(t)); got != n+2 {
				t.Fatalf("%d records in the file, want %d", got, n+2)
			}
		}
		disk.do(func() {
			if disk.syncs != before {
				t.Errorf("%d syncs within one interval", disk.syncs-before)
			}
		})
		stop(t, l)
		if got := len(disk.lines(t)); got != 11 {
			t.Errorf("%d records in the end, want 11", got)
		}
	})
}

// A disk that fails in any way loses nothing and doubles nothing when it heals.
func TestDiskFailsAndHeals(t *testing.T) {
	broken := errors.New("broken")
	for name, fail := range map[string]func(*memFS){
		"write, nothing put down": func(d *memFS) { d.writeErr = broken },
		"write, part of a line":   func(d *memFS) { d.writeErr, d.short = broken, 12 },
		"sync":                    func(d *memFS) { d.syncErr = broken },
		"rename":                  func(d *memFS) { d.renameErr = broken },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := newMemFS()
				l := openMem(t, disk, func(c *Config) { c.MaxSize = 60 })
				for n := range 5 {
					l.Write(number(n))
				}
				time.Sleep(time.Second)
				disk.do(func() { fail(disk) })
				for n := 5; n < 10; n++ {
					l.Write(number(n))
				}
				time.Sleep(250 * time.Millisecond)
				if s := l.Stats(); !s.Failing || s.Backlog == 0 || int64(s.Written)+s.Backlog != 10 || s.Errors == 0 {
					t.Errorf("while broken: %+v", s)
				}
				disk.do(func() { disk.writeErr, disk.syncErr, disk.renameErr = nil, nil, nil })
				time.Sleep(time.Minute)
				if s := l.Stats(); s.Failing || s.Backlog != 0 || s.Written != 10 || s.Refused != 0 {
					t.Errorf("healed: %+v", s)
				}
				stop(t, l)
				if got := disk.lines(t); !slices.Equal(got, numbers(0, 10)) {
					t.Errorf("lines %q", got)
				}
			})
		})
	}
}

// Beyond the backlog records are refused and counted; the accepted ones arrive. The file is opened anew after some failures.
func TestBacklogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, func(c *Config) { c.Backlog = 7 })
		disk.do(func() { disk.writeErr, disk.openErr = errors.New("gone"), errors.New("gone") })
		accepted := 0
		for n := range 20 {
			if l.Write(number(n)) {
				accepted++
			}
		}
		time.Sleep(5 * time.Minute)
		if s := l.Stats(); accepted != 7 || s.Refused != 13 || s.Backlog != 7 || disk.opens < 3 {
			t.Errorf("accepted %d, opened %d times, %+v", accepted, disk.opens, s)
		}
		disk.do(func() { disk.writeErr, disk.openErr = nil, nil })
		stop(t, l)
		if got := disk.lines(t); !slices.Equal(got, numbers(0, 7)) {
			t.Errorf("lines %q", got)
		}
	})
}

// Stop with a dead disk ends with its context and says what is lost.
func TestStopGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, nil)
		disk.do(func() { disk.syncErr = errors.New("broken") })
		l.Write(number(1))
		l.Write(number(2))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		err := l.Stop(ctx)
		if err == nil || !strings.Contains(err.Error(), "2 records") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Stop: %v", err)
		}
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("Stop took %v", took)
		}
		if err := l.Stop(ctx); err == nil {
			t.Error("a second Stop hides the loss")
		}
	})
}

// Stop and Write race: what Write accepted is on disk.
func TestStopAgainstWrite(t *testing.T) {
	for range 50 {
		disk := newMemFS()
		l := openMem(t, disk, nil)
		var accepted atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for l.Write(number(1)) {
					accepted.Add(1)
				}
			})
		}
		stop(t, l)
		wg.Wait()
		if got := len(disk.lines(t)); int64(got) != accepted.Load() {
			t.Fatalf("%d accepted, %d written", accepted.Load(), got)
		}
	}
}

func TestUnusableRecord(t *testing.T) {
	disk := newMemFS()
	l := openMem(t, disk, nil)
	l.Write(number(0))
	l.Write(line("bad"))
	l.Write(number(1))
	stop(t, l)
	if got := disk.lines(t); !slices.Equal(got, numbers(0, 2)) {
		t.Errorf("lines %q", got)
	}
	if s := l.Stats(); s.Unusable != 1 || s.Written != 2 {
		t.Errorf("%+v", s)
	}
}

// After a crash the file ends at a line break and holds every whole record.
func TestRecovery(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"{\"seq\":5,\"n\":1}\n": "{\"seq\":5,\"n\":1}\n",
		"{\"seq\":5,\"n\":1}\n{\"seq\":5,\"n\":2":      "{\"seq\":5,\"n\":1}\n",
		"{\"seq\":5,\"n\":1}\n{\"seq\":5,\"n\":2}":     "{\"seq\":5,\"n\":1}\n{\"seq\":5,\"n\":2}\n",
		"{\"seq\":5,\"n\"":                             "",
		"{\"seq\":5,\"n\":1}\n\x00\x00\x00":            "{\"seq\":5,\"n\":1}\n",
		strings.Repeat("{\"seq\":5,\"n\":1}\n", 1<<18): strings.Repeat("{\"seq\":5,\"n\":1}\n", 1<<18),
	} {
		path := filepath.Join(t.TempDir(), "calls.jsonl")
		if err := os.WriteFile(path, []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		l.Write(number(9))
		stop(t, l)
		last := "{\"seq\":6,\"n\":9}\n"
		if want == "" {
			last = "{\"seq\":1,\"n\":9}\n"
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want+last {
			t.Errorf("%.40q became %.80q, %v", in, got, err)
		}
	}
}

func TestOpenFails(t *testing.T) {
	if _, err := Open(Config{}); err == nil {
		t.Error("no path is no error")
	}
	if _, err := Open(Config{Path: filepath.Join(t.TempDir(), "no", "such", "dir")}); err == nil {
		t.Error("a missing directory is no error")
	}
}

func BenchmarkWrite(b *testing.B) {
	disk := newMemFS()
	l, err := Open(Config{Path: "/cdr/calls.jsonl", fs: discardFS{disk}, Backlog: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	r := number(1)
	b.ReportAllocs()
	for b.Loop() {
		l.Write(r)
	}
	b.StopTimer()
	if err := l.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// discardFS keeps nothing that is written.
type discardFS struct{ *memFS }

func (d discardFS) open(path string) (file, error) {
	f, err := d.memFS.open(path)
	return discardFile{f}, err
}

type discardFile struct{ file }

func (discardFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
