package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// routeFaults writes down what of decided routes is not carried out (S-072, S-080, S-081):
// who decides must hear of it, but says the same for each call. Each fault of a carrier is
// written once in faultPause, and maxFaultLines different ones.
type routeFaults struct {
	log *slog.Logger

	mu      sync.Mutex
	since   time.Time
	told    map[routeFault]struct{}
	unsaid  int // lines that did not come since then
	counted func(reason string)
}

type routeFault struct{ reason, carrier, detail string }

const (
	faultPause    = time.Minute
	maxFaultLines = 32
)

// taken takes a fault. It runs on the call path of calls that have one.
func (f *routeFaults) taken(now time.Time, e *b2bua.Event) {
	f.counted(e.Reason)
	unsaid, ok := f.mayTell(now, routeFault{e.Reason, e.Carrier, e.Detail})
	if !ok {
		return
	}
	attrs := []slog.Attr{
		slog.String("reason", e.Reason), slog.String("carrier", clipped(e.Carrier)), slog.String("detail", clipped(e.Detail)), slog.String("call_id", e.Call),
	}
	if unsaid > 0 {
		attrs = append(attrs, slog.Int("lines_left_out", unsaid))
	}
	f.log.LogAttrs(context.Background(), slog.LevelWarn, "a decided route is not carried out as it says", attrs...)
}

// mayTell reports whether a fault is to be written now, and how many were not.
func (f *routeFaults) mayTell(now time.Time, fault routeFault) (unsaid int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told == nil || now.Sub(f.since) >= faultPause {
		f.since, f.told = now, make(map[routeFault]struct{})
		unsaid, f.unsaid = f.unsaid, 0
	}
	if _, again := f.told[fault]; again {
		f.unsaid++
		return 0, false
	}
	if len(f.told) >= maxFaultLines {
		f.unsaid++
		return 0, false
	}
	f.told[fault] = struct{}{}
	return unsaid, true
}

// clipped bounds what others wrote. The log quotes it.
func clipped(s string) string { return s[:min(len(s), 120)] }
