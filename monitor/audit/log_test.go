package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, cfg Config) *Log {
	t.Helper()
	cfg.Node = "n1"
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stop(t *testing.T, l *Log) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := l.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

// What was added is there after a restart, oldest first, and nobody else may read it.
func TestEntriesOutliveTheNode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for run := range 2 {
		l := open(t, Config{Path: path})
		for i := range 3 {
			l.Add(Entry{Time: noon.Add(time.Duration(run*3+i) * time.Minute), Via: "api", Author: "ann", Verb: "member state", Subject: fmt.Sprintf("acme/pbx-%d", i), Outcome: Done})
		}
		stop(t, l)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"time":"2026-11-30T13:00:00Z","verb":"torn`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l := open(t, Config{Path: path})
	l.Add(Entry{Verb: "last", Subject: "acme/pbx-9", Outcome: Done, Reason: strings.Repeat("ä", maxText)})
	stop(t, l)
	all, err := l.List(Query{})
	if err != nil || len(all) != 7 || all[0].Subject != "acme/pbx-0" || all[6].Verb != "last" || all[6].Node != "n1" || len(all[6].Reason) > maxText {
		t.Errorf("%v, %v", all, err)
	}
	for _, x := range []struct {
		q    Query
		want int
	}{
		{Query{Limit: 2}, 2}, {Query{Subject: "pbx-1"}, 2}, {Query{Since: noon.Add(4 * time.Minute)}, 3}, {Query{Subject: "other"}, 0},
	} {
		if got, err := l.List(x.q); err != nil || len(got) != x.want {
			t.Errorf("%+v: %d, %v, want %d", x.q, len(got), err, x.want)
		}
	}
}

// The trail is bounded, whatever is done to the node, and its newest part is what stays.
func TestTrailIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Config{Path: filepath.Join(dir, "audit.jsonl"), MaxSize: 4096, Keep: 3})
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 200 {
				l.Add(Entry{Verb: "member state", Subject: "acme/pbx", Outcome: Done})
			}
		})
	}
	writers.Wait()
	for i := range 100 { // one by one, so that batches are small
		l.Add(Entry{Verb: "drain", Subject: fmt.Sprint("site ", i), Outcome: Done})
		for len(l.queue) > 0 {
			if _, err := l.List(Query{Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop(t, l)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 4 {
		t.Errorf("%v, %v", files, err)
	}
	list, err := l.List(Query{Limit: 10})
	if err != nil || len(list) != 10 || list[9].Subject != "site 99" || list[0].Subject != "site 90" {
		t.Errorf("%v, %v", list, err)
	}
}

// A disk that fails blocks nobody, is told once, and what waited is written when it works again.
func TestDiskThatFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 10)
	l := open(t, Config{Path: filepath.Join(dir, "audit.jsonl"), OnFailing: func(err error) { told <- err }})
	l.mu.Lock()
	err := errors.Join(l.files.close(), os.RemoveAll(dir))
	l.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * queueSize {
		l.Add(Entry{Verb: "x", Outcome: Done})
	}
	if err := <-told; err == nil {
		t.Error("a failure is told as success")
	}
	if l.Lost() == 0 {
		t.Error("nothing is lost though the queue is bounded")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := <-told; err != nil {
		t.Errorf("told %v when the disk is back", err)
	}
	l.Add(Entry{Verb: "after", Outcome: Done})
	stop(t, l)
	list, err := l.List(Query{Limit: 1})
	if err != nil || len(list) != 1 || list[0].Verb != "after" {
		t.Errorf("%v, %v", list, err)
	}
}

// FuzzScan reads whatever stands in a file.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"time":"2026-11-30T12:00:00Z","verb":"x","outcome":"done"}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := scan(strings.NewReader(string(b)), &Query{Limit: 3})
		if len(list) > 3 {
			t.Fatalf("%d entries, %v", len(list), err)
		}
	})
}
