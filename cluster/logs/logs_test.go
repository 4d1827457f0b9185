package logs

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

func capture() (*slog.Logger, *bytes.Buffer) {
	var out bytes.Buffer
	drop := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: drop})), &out
}

func TestHCLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, out := capture()
		l := HCLog(logger).With("node", "dal-1").Named("raft")
		l.Debug("nothing of this")
		for range 3 {
			l.Error("failed to heartbeat to", "peer", "ash-1", "command", hclog.Fmt("%d+%d", 1, 2))
		}
		time.Sleep(Period)
		l.Error("failed to heartbeat to", "peer", "ash-1")
		want := `level=WARN msg="failed to heartbeat to" node=dal-1 peer=ash-1 command=1+2
level=WARN msg="failed to heartbeat to" node=dal-1 peer=ash-1 suppressed=2
`
		if got := out.String(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, out := capture()
		w := Lines(logger)
		fmt.Fprintln(w, "2026/01/02 15:04:05 [DEBUG] memberlist: nothing of this")
		fmt.Fprintln(w, "2026/01/02 15:04:05 [INFO] memberlist: Suspect ash-1 has failed, no acks received")
		for i := range 5 {
			fmt.Fprintf(w, "[ERR] memberlist: Decrypt packet failed: no key from=10.0.0.%d\n", i)
		}
		fmt.Fprintln(w, strings.Repeat("x", 2000))
		want := `level=INFO msg="Suspect ash-1 has failed, no acks received"
level=WARN msg="Decrypt packet failed: no key from=10.0.0.0"
level=WARN msg=` + strings.Repeat("x", maxLine) + "\n"
		if got := out.String(); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestLimiterIsBounded(t *testing.T) {
	var l Limiter
	now := time.Unix(1e9, 0)
	for i := range 10 * maxKeys {
		l.Allow(strings.Repeat("k", i), now)
	}
	if len(l.keys) > maxKeys {
		t.Errorf("%d keys are kept, at most %d are allowed", len(l.keys), maxKeys)
	}
}
