package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// startAnswer runs `tandem answer` and returns its address and a function that ends it and gives its
// standard output.
func startAnswer(t *testing.T, args ...string) (address string, stop func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	r, w := io.Pipe()
	var out bytes.Buffer
	code := make(chan int, 1)
	go func() {
		got := run(ctx, append([]string{"answer"}, args...), console{in: strings.NewReader(""), out: &out, err: w, env: func(string) string { return "" }})
		w.Close()
		code <- got
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "answering at ")
	if err != nil || !ok {
		t.Fatalf("got %q, %v", line, err)
	}
	return address, func() string {
		cancel()
		if got := <-code; got != exitOK {
			t.Errorf("answer: exit code %d, want 0", got)
		}
		return out.String()
	}
}

// tandem runs one command line to its end.
func tandem(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, console{in: strings.NewReader(""), out: &out, err: &errs, env: func(string) string { return "" }})
	return code, out.String(), errs.String()
}

func TestLoadAgainstAnswer(t *testing.T) {
	address, stop := startAnswer(t, "--listen", "127.0.0.1:0", "--behaviour", "instant")
	code, out, errs := tandem(t, "load", "--node", address, "--to", "+12145550100", "--rate", "100", "--calls", "20", "--hold", "10ms", "-o", "json")
	var report sim.Report
	if err := json.Unmarshal([]byte(out), &report); code != exitOK || err != nil || report.Counts.Answered != 20 {
		t.Errorf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	if seen := strings.Fields(stop()); len(seen) < 12 || seen[9] != "20" || seen[10] != "20" {
		t.Errorf("answer saw %v", seen)
	}
}

func TestLoadFailsWhenCallsFail(t *testing.T) {
	address, stop := startAnswer(t, "--listen", "127.0.0.1:0", "--behaviour", "busy")
	defer stop()
	args := []string{"load", "--node", address, "--to", "+12145550100", "--rate", "100", "--calls", "5"}
	if code, out, errs := tandem(t, args...); code != exitFailed || !strings.Contains(errs, "error: 100 % of the calls failed") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if code, out, errs := tandem(t, append(args, "--max-failed", "1")...); code != exitOK {
		t.Errorf("with --max-failed 1: exit code %d\n%s%s", code, out, errs)
	}
}

func TestLoadUsage(t *testing.T) {
	for _, args := range [][]string{
		{"load"},
		{"load", "--node", "127.0.0.1:5060", "--to", "+1214"},
		{"load", "--node", "sctp:127.0.0.1:5060", "--to", "+1214", "--calls", "1"},
		{"load", "--node", "127.0.0.1:5060", "--to", "+1214", "--calls", "1", "--cancel", "7"},
		{"answer"},
		{"answer", "--listen", "127.0.0.1:0", "--behaviour", "sings"},
	} {
		if code, _, errs := tandem(t, args...); code != exitUsage || !strings.HasPrefix(errs, "error: ") {
			t.Errorf("%v: exit code %d, %s", args, code, errs)
		}
	}
}
