//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// billing is a server that takes records over HTTP, and knows a batch that comes again.
type billing struct {
	mu      sync.Mutex
	batches map[string]bool
	lines   []cdrLine
	seqs    map[uint64]int
}

func (b *billing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	if key == "" || r.Header.Get("Authorization") != "Bearer e2e" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if b.batches[key] {
		return
	}
	b.batches[key] = true
	for line := range bytes.Lines(body) {
		var l struct {
			cdrLine
			Seq uint64 `json:"seq"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		b.lines = append(b.lines, l.cdrLine)
		b.seqs[l.Seq]++
	}
}

// final counts the answered calls whose last record is there.
func (b *billing) final() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := map[string]bool{}
	for _, l := range b.lines {
		if l.Kind == "call" && l.Final && !l.Answer.IsZero() {
			seen[l.CallID] = true
		}
	}
	return len(seen)
}

// serve lets the server answer at an address until what it returns is called.
func (b *billing) serve(t testing.TB, address string) (stop func()) {
	t.Helper()
	var ln net.Listener
	eventually(t, 10*time.Second, "the port", func() (err error) {
		ln, err = net.Listen("tcp", address)
		return err
	})
	server := &http.Server{Handler: b}
	go func() { _ = server.Serve(ln) }()
	stop = sync.OnceFunc(func() { _ = server.Close() })
	t.Cleanup(stop)
	return stop
}

// The HTTP sink of a node is dead from the start, the node is killed with records that
// wait, and killed again while they are passed on: each record of its spool arrives, with
// no number missing, and a file beside it never waited (DEC-24).
func TestDEC24_DeadSinkAndKilledNode(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	_ = ln.Close()
	s := newSurvivors(t, survivorPBX(t))
	dal1 := s.nodes["dal-1"]
	dal1.kill()
	s.write("billing.auth", "Bearer e2e\n")
	table := filepath.Join(s.dir, "table.jsonl")
	s.write("dal-1.yaml", strings.Replace(s.nodeFile(dal1), "close_after:", fmt.Sprintf(
		"sinks: [{name: billing, type: http, url: \"http://%s/cdrs\", auth_file: billing.auth, batch: 7}, {name: table, type: file, path: %s}], close_after:", address, table), 1))
	s.start(dal1)
	s.ready(dal1)
	const calls = 40
	s.callsUp(dal1, calls, time.Second)
	answered := func() (n int) {
		for _, r := range s.records(dal1) {
			if r.Kind == "call" && r.Final && !r.Answer.IsZero() {
				n++
			}
		}
		return n
	}
	eventually(t, time.Minute, "the records on disk", func() error {
		if n := answered(); n != calls {
			return fmt.Errorf("%d records", n)
		}
		return nil
	})
	eventually(t, time.Minute, "the file", func() error {
		b, err := os.ReadFile(table)
		if n := bytes.Count(b, []byte("\n")); err != nil || n < calls {
			return fmt.Errorf("%d lines, %w", n, err)
		}
		return nil
	})
	dal1.kill()
	s.start(dal1)
	s.ready(dal1)
	if v := s.metric(dal1, `tandem_cdr_backlog_records{sink="billing"}`); v < calls {
		t.Errorf("%v records wait", v)
	}
	b := &billing{batches: map[string]bool{}, seqs: map[uint64]int{}}
	stop := b.serve(t, address)
	eventually(t, 2*time.Minute, "the first records", func() error {
		if b.final() == 0 {
			return fmt.Errorf("none")
		}
		return nil
	})
	dal1.kill()
	stop()
	s.start(dal1)
	s.ready(dal1)
	b.serve(t, address)
	eventually(t, 2*time.Minute, "all records", func() error {
		if n := b.final(); n != calls {
			return fmt.Errorf("%d of %d", n, calls)
		}
		return nil
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	for seq := uint64(1); seq <= uint64(len(b.seqs)); seq++ {
		if b.seqs[seq] == 0 {
			t.Errorf("record %d is missing", seq)
		}
	}
	if v := s.metric(dal1, `tandem_cdr_gaps_total{sink="billing"}`); v != 0 {
		t.Errorf("%v gaps", v)
	}
}
