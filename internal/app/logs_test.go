package app

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A log that nobody reads stops nobody who logs, nor the end of the process.
func TestLogsNeverBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe() // unbuffered, and nobody reads
		l := newLogs(slog.NewTextHandler(w, nil))
		log := slog.New(l)
		start := time.Now()
		for i := range 3 * maxLogs {
			log.With("i", i).WithGroup("g").Info("line", "k", "v")
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("logging took %v", d)
		}
		l.close()
		if d := time.Since(start); d != logPatience {
			t.Errorf("the end took %v", d)
		}
		_ = r.Close() // lets the writer go
		synctest.Wait()
	})
}

func TestLogsKeepOrderAndTellOfWhatWasDropped(t *testing.T) {
	r, w := io.Pipe()
	l := newLogs(slog.NewTextHandler(w, nil))
	log := slog.New(l).With("node", "dal-1")
	for i := range maxLogs + 100 {
		log.Info("line", "i", i)
	}
	var out bytes.Buffer
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(&out, r)
	}()
	l.close()
	_ = w.Close()
	<-copied
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if n := len(lines); n < maxLogs || n > maxLogs+3 {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(lines[0], "node=dal-1 i=0") || !strings.Contains(out.String(), "were dropped") {
		t.Errorf("the first lines are\n%s\n%s", lines[0], lines[1])
	}
}
