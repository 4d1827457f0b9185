package app

import (
	"context"
	"log/slog"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// logRoute writes down each attempt of a call by decided routes that failed, and each
// advance to another one, as they happen (S-048). An attempt that was not dialled says
// nothing of its carrier: the message keeps the two apart.
func logRoute(log *slog.Logger, e *b2bua.Event) {
	attrs := []slog.Attr{slog.String("call_id", e.Call), slog.String("carrier", e.Carrier)}
	switch {
	case e.Kind == b2bua.EventRouteAdvance:
		log.LogAttrs(context.Background(), slog.LevelInfo, "next carrier is dialled", attrs...)
		return
	case e.Kind != b2bua.EventRouteFailed:
		return
	}
	attrs = append(attrs, slog.Int("code", e.Code), slog.String("cause", e.Reason), slog.Int64("elapsed_ms", e.Wait.Milliseconds()))
	if !e.Dialed {
		log.LogAttrs(context.Background(), slog.LevelInfo, "carrier skipped without dialling", attrs...)
		return
	}
	log.LogAttrs(context.Background(), slog.LevelInfo, "carrier failed", attrs...)
}
