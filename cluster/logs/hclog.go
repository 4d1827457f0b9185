package logs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hashicorp/go-hclog"
)

// HCLog returns an hclog.Logger that writes into logger.
func HCLog(logger *slog.Logger) hclog.Logger {
	return &adapter{Logger: hclog.NewNullLogger(), out: logger, limit: &Limiter{}}
}

// adapter overrides what a library calls; the embedded logger answers the rest.
type adapter struct {
	hclog.Logger
	out   *slog.Logger
	limit *Limiter
	name  string
}

func (a *adapter) Log(level hclog.Level, msg string, args ...any) {
	to := slog.LevelDebug
	switch level {
	case hclog.Info:
		to = slog.LevelInfo
	case hclog.Warn, hclog.Error:
		to = slog.LevelWarn
	}
	if !a.out.Enabled(context.Background(), to) {
		return
	}
	if to > slog.LevelDebug {
		held, ok := a.limit.Allow(msg, time.Now())
		if !ok {
			return
		}
		if held > 0 {
			args = append(args[:len(args):len(args)], "suppressed", held)
		}
	}
	a.out.Log(context.Background(), to, msg, plain(args)...)
}

// plain turns hclog's own value types into text.
func plain(args []any) []any {
	for i, v := range args {
		if f, ok := v.(hclog.Format); ok && len(f) > 0 {
			if format, ok := f[0].(string); ok {
				args[i] = fmt.Sprintf(format, f[1:]...)
			}
		}
	}
	return args
}

func (a *adapter) Trace(msg string, args ...any) { a.Log(hclog.Trace, msg, args...) }
func (a *adapter) Debug(msg string, args ...any) { a.Log(hclog.Debug, msg, args...) }
func (a *adapter) Info(msg string, args ...any)  { a.Log(hclog.Info, msg, args...) }
func (a *adapter) Warn(msg string, args ...any)  { a.Log(hclog.Warn, msg, args...) }
func (a *adapter) Error(msg string, args ...any) { a.Log(hclog.Error, msg, args...) }

func (a *adapter) IsTrace() bool { return false }
func (a *adapter) IsDebug() bool { return a.out.Enabled(context.Background(), slog.LevelDebug) }
func (a *adapter) IsInfo() bool  { return a.out.Enabled(context.Background(), slog.LevelInfo) }
func (a *adapter) IsWarn() bool  { return a.out.Enabled(context.Background(), slog.LevelWarn) }
func (a *adapter) IsError() bool { return a.IsWarn() }

func (a *adapter) Name() string { return a.name }

func (a *adapter) With(args ...any) hclog.Logger {
	b := *a
	b.out = a.out.With(args...)
	return &b
}

func (a *adapter) Named(name string) hclog.Logger {
	if a.name != "" {
		name = a.name + "." + name
	}
	return a.ResetNamed(name)
}

func (a *adapter) ResetNamed(name string) hclog.Logger {
	b := *a
	b.name = name
	return &b
}
