package app

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// S-081: "refused in headers (warn with carrier+header)"; S-080: an unknown policy name
// "is logged at warn with the carrier". A decision server that says so for each call gets
// one line a minute, and cannot write lines of its own.
func TestS080_S081_RouteFaultsAreLoggedSeldom(t *testing.T) {
	var out bytes.Buffer
	counts := map[string]int{}
	f := routeFaults{log: slog.New(slog.NewTextHandler(&out, nil)), counted: func(reason string) { counts[reason]++ }}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	event := func(reason, carrier, detail string) {
		f.taken(now, &b2bua.Event{Kind: b2bua.EventRouteFault, Reason: reason, Carrier: carrier, Detail: detail, Call: "id"})
	}
	for range 1000 {
		event(b2bua.FaultRefusedHeader, "carrier-x", "Via")
		event(b2bua.FaultUnknownPolicy, "carrier-x", "gold\nlevel=ERROR")
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 2 || counts[b2bua.FaultRefusedHeader] != 1000 ||
		!strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[0], "reason=refused_header carrier=carrier-x detail=Via call_id=id") ||
		!strings.Contains(lines[1], `detail="gold\nlevel=ERROR"`) {
		t.Fatalf("%d counted, %q", counts[b2bua.FaultRefusedHeader], lines)
	}
	now = now.Add(faultPause)
	out.Reset()
	for i := range 2 * maxFaultLines {
		event(b2bua.FaultBadURI, strconv.Itoa(i), strings.Repeat("x", 1000))
	}
	if n := strings.Count(out.String(), "\n"); n != maxFaultLines || !strings.Contains(out.String(), "lines_left_out=1998") || out.Len() > maxFaultLines*400 {
		t.Errorf("%d lines, %d octets:\n%.400s", n, out.Len(), out.String())
	}
}
