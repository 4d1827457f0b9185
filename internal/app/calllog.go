package app

import (
	"context"
	"log/slog"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// logCall writes the one line of a call.
func (w *watch) logCall(r *cdr.Record) {
	w.app.log.LogAttrs(context.Background(), slog.LevelInfo, "call",
		slog.String("call_id", r.CallID), slog.String("kind", string(r.Kind)), slog.String("direction", string(r.Direction)),
		slog.String("customer", r.Customer), slog.String("trunk_group", r.EgressGroup), slog.String("member", r.EgressMember),
		slog.String("egress_site", r.EgressSite), slog.Int("attempts", len(r.Attempts)), slog.Int("code", r.SIPCode),
		slog.String("cause", r.HangupCause), slog.Int64("pdd_ms", r.PDD.Milliseconds()),
		slog.Int64("duration_ms", r.Billable().Milliseconds()))
}

// Count implements sbc.Observer.
func (w *watch) Count(b2bua.Event) {}
