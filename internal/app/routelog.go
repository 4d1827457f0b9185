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
	message := "carrier failed"
	switch {
	case e.Kind == b2bua.EventRouteAdvance:
		log.LogAttrs(context.Background(), slog.LevelInfo, "next carrier is dialled", slog.String("call_id", e.Call), slog.String("carrier", e.Carrier))
		return
	case e.Kind != b2bua.EventRouteFailed:
		return
	case !e.Dialed:
		message = "carrier skipped without dialling"
	}
	log.LogAttrs(context.Background(), slog.LevelInfo, message, slog.String("call_id", e.Call), slog.String("carrier", e.Carrier),
		slog.Int("code", e.Code), slog.String("cause", e.Reason), slog.Int64("elapsed_ms", e.Wait.Milliseconds()))
}
