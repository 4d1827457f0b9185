package cdrsink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cdr/profile"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call is the record of the n-th call.
func call(n int) *cdr.Record {
	at := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	return &cdr.Record{
		CallID: fmt.Sprintf("call-%04d", n), Kind: cdr.KindCall, Version: 2, Final: true, Node: "dal-1", Site: "dallas",
		Start: at, Answer: at, End: at.Add(time.Minute), SIPCode: 200,
	}
}

// spool opens a log in a directory of its own.
func spool(t *testing.T, dir string, edit func(*cdrlog.Config)) *cdrlog.Log {
	t.Helper()
	cfg := cdrlog.Config{Path: filepath.Join(dir, "cdr.jsonl"), Interval: 10 * time.Millisecond}
	if edit != nil {
		edit(&cfg)
	}
	l, err := cdrlog.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func write(t *testing.T, l *cdrlog.Log, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if !l.Write(call(n)) {
			t.Fatal("refused")
		}
	}
}

// settled waits until what was written is on disk.
func settled(t *testing.T, l *cdrlog.Log) {
	t.Helper()
	until(t, "the records are on disk", func() bool { return l.Past(l.Mark()) })
}

// until waits for something that real I/O brings about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); !ok(); <-tick.C {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func sinkConfig(name string, kind Type) Config {
	return Config{Name: name, Type: kind, Format: JSONLines, Profile: profile.Named(profile.Tandem), Batch: 100, RotateSize: 1 << 30, Timeout: 10 * time.Second}
}

func open(t *testing.T, l *cdrlog.Log, dir string, sinks ...Config) *Set {
	t.Helper()
	s, err := Open(SetConfig{Log: l, Dir: filepath.Join(dir, "sinks"), Node: "dal-1", Sinks: sinks})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stopAll(t *testing.T, s *Set, l *cdrlog.Log) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := l.Stop(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// ids are the calls of lines of JSON.
func ids(t *testing.T, lines []byte) (list []string) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		r, _, err := cdr.ParseJSON(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, r.CallID)
	}
	return list
}

func calls(from, to int) (list []string) {
	for n := from; n < to; n++ {
		list = append(list, call(n).CallID)
	}
	return list
}

// fake is a target that does as told.
type fake struct {
	mu     sync.Mutex
	fail   error
	hang   bool
	tries  []time.Time
	got    []byte
	sizes  []int
	closed int
}

func (f *fake) send(ctx context.Context, b *batch) error {
	f.mu.Lock()
	f.tries = append(f.tries, time.Now())
	fail, hang := f.fail, f.hang
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sizes = append(f.sizes, b.count)
	if fail == nil {
		f.got = append(f.got, b.text...)
	}
	return fail
}

func (f *fake) close() { f.closed++ }

func (f *fake) set(fail error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

func (f *fake) list(t *testing.T) []string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	return ids(t, f.got)
}

// use puts fakes in the place of the targets of a set.
func use(s *Set, fakes ...*fake) {
	for i, f := range fakes {
		s.sinks[i].target = f
	}
}

var errAway = errors.New("away")

func contains(s Status, reason string) bool { return s.Failing && strings.Contains(s.Reason, reason) }
