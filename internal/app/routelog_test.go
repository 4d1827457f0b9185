package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// S-048: "each failed attempt and each advance is logged at info (carrier, status, elapsed); undialled
// logged at info too".
func TestS048_AttemptsAreLogged(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	for _, e := range []b2bua.Event{
		{Kind: b2bua.EventRouteFailed, Call: "01J", Carrier: "carrier-a", Code: 503, Dialed: true, Wait: 118 * time.Millisecond},
		{Kind: b2bua.EventRouteAdvance, Call: "01J", Carrier: "carrier-b"},
		{Kind: b2bua.EventRouteFailed, Call: "01J", Carrier: "carrier-b", Code: 503, Reason: "down"},
		{Kind: b2bua.EventAttempt, Call: "01J", Carrier: "carrier-b"},
	} {
		logRoute(log, &e)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{
		`level=INFO msg="carrier failed" call_id=01J carrier=carrier-a code=503 cause="" elapsed_ms=118`,
		`level=INFO msg="next carrier is dialled" call_id=01J carrier=carrier-b`,
		`level=INFO msg="carrier skipped without dialling" call_id=01J carrier=carrier-b code=503 cause=down elapsed_ms=0`,
	} {
		if i >= len(lines) || !strings.HasSuffix(lines[i], want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if len(lines) != 3 {
		t.Errorf("%d lines", len(lines))
	}
}
