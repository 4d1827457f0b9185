package logs

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"time"
)

// Lines returns a writer for a standard logger, which gives it one line per call,
// and passes each on to logger. Lines look as hashicorp's libraries write them:
// "2026/01/02 15:04:05 [WARN] memberlist: text", with or without the time.
func Lines(logger *slog.Logger) io.Writer { return &lines{out: logger} }

type lines struct {
	out   *slog.Logger
	limit Limiter
}

// stamp is the time that a standard logger puts before a line; slog has its own.
const stamp = "2006/01/02 15:04:05 "

// maxLine bounds a line: it may hold what a stranger sent.
const maxLine = 512

// Write takes one line; it never fails.
func (l *lines) Write(b []byte) (int, error) {
	line := bytes.TrimSpace(b)
	if len(line) > len(stamp) && line[4] == '/' && line[7] == '/' {
		line = line[len(stamp):]
	}
	level := slog.LevelWarn
	if len(line) > 0 && line[0] == '[' {
		if end := bytes.IndexByte(line, ']'); end > 0 {
			level = levelOf(line[1:end])
			line = bytes.TrimSpace(line[end+1:])
		}
	}
	line = bytes.TrimPrefix(line, []byte("memberlist: "))
	if len(line) > maxLine {
		line = line[:maxLine]
	}
	if !l.out.Enabled(context.Background(), level) {
		return len(b), nil
	}
	var attrs []any
	if level > slog.LevelDebug {
		held, ok := l.limit.Allow(key(line), time.Now())
		if !ok {
			return len(b), nil
		}
		if held > 0 {
			attrs = append(attrs, "suppressed", held)
		}
	}
	l.out.Log(context.Background(), level, string(line), attrs...)
	return len(b), nil
}

func levelOf(tag []byte) slog.Level {
	switch string(tag) {
	case "DEBUG", "TRACE":
		return slog.LevelDebug
	case "INFO":
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// key is the part of a line that stays the same when the addresses and names in
// it differ: its first three words.
func key(line []byte) string {
	words := 0
	for i, c := range line {
		if c == ' ' {
			if words++; words == 3 {
				return string(line[:i])
			}
		}
	}
	return string(line)
}
