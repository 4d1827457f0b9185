package logs

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"time"
)

// Std returns a standard logger that writes into logger; lines start with a level
// in brackets as hashicorp's libraries write them: "[WARN] memberlist: text".
func Std(logger *slog.Logger) *log.Logger {
	return log.New(&lines{out: logger}, "", 0)
}

type lines struct {
	out   *slog.Logger
	limit Limiter
}

// maxLine bounds a line: it may hold what a stranger sent.
const maxLine = 512

// Write takes one line; it never fails.
func (l *lines) Write(b []byte) (int, error) {
	line := bytes.TrimSpace(b)
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
