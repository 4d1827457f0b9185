package calllog

import (
	"context"
	"log/slog"

	"github.com/tandem-sbc/tandem/cdr"
)

// Line logs a finished call at level info: one line with constant message and keys, without numbers or anything else that a caller can choose,
// but for its ids. It allocates nothing when the level is off.
func Line(ctx context.Context, logger *slog.Logger, r *cdr.Record) {
	if !logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attempts, dialed := len(r.Attempts), 0
	for i := range r.Attempts {
		if r.Attempts[i].Dialed {
			dialed++
		}
	}
	logger.LogAttrs(ctx, slog.LevelInfo, "call ended",
		slog.String("call_id", r.CallID),
		slog.String("kind", string(r.Kind)),
		slog.String("sip_call_id", r.SIPCallID),
		slog.String("direction", string(r.Direction)),
		slog.String("ingress_group", r.IngressGroup),
		slog.String("egress_group", r.EgressGroup),
		slog.String("member", r.EgressMember),
		slog.String("egress_site", r.EgressSite),
		slog.Bool("handed_off", r.HandedOff),
		slog.Int("attempts", attempts),
		slog.Int("dialed", dialed),
		slog.Int("code", r.SIPCode),
		slog.String("cause", r.HangupCause),
		slog.String("party", string(r.HangupParty)),
		slog.Int64("pdd_ms", r.PDD.Milliseconds()),
		slog.Int64("duration_ms", r.Duration().Milliseconds()),
		slog.Int64("billable_ms", r.Billable().Milliseconds()),
	)
}
