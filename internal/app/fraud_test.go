package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/sbc/fraud"
)

// The list in force stays, whatever becomes of its file: no list would open the door.
// The complaint names the line.
func TestDoNotOriginateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dno.txt")
	var log strings.Builder
	f := &frauds{
		app: &App{cfg: &config.Config{SIP: config.SIP{DoNotOriginate: path}}}, log: slog.New(slog.NewTextHandler(&log, nil)),
		watch: fraud.NewWatch(),
	}
	write := func(text string) func() error {
		return func() error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	listed := []byte("+18005550100")
	for i, c := range []struct {
		name   string
		change func() error
		may    bool
		log    string
	}{
		{"no file at all", func() error { return nil }, true, "no such file"},
		{"a list", write("# toll free\n+18005550100\r\n\n+1877555*\n"), false, "entries=2"},
		{"a bad line", write("+18005550199\nnobody\n"), false, "line 2"},
		{"control characters", write("+18005550199\x1b[2J\n"), false, "line 1"},
		{"emptied", write(""), false, "is empty"},
		{"remarks only", write("# soon\n"), false, ""}, // said already
		{"gone", func() error { return os.Remove(path) }, false, "no such file"},
		{"a directory", func() error { return os.Mkdir(path, 0o700) }, false, "no regular file"},
		{"a pipe that nobody writes", func() error {
			_ = os.Remove(path)
			return syscall.Mkfifo(path, 0o600)
		}, false, ""},
		{"another list", func() error {
			_ = os.Remove(path)
			return write("+18005550199\n")()
		}, true, "entries=1"},
	} {
		if err := c.change(); err != nil {
			t.Fatal(err)
		}
		_ = os.Chtimes(path, time.Time{}, time.Unix(int64(1_700_000_000+i), 0)) // as if time went by
		log.Reset()
		f.readOrigins()
		if may := f.watch.MayOriginate(listed); may != c.may || !strings.Contains(log.String(), c.log) {
			t.Errorf("%s: may originate %v, log %s", c.name, may, log.String())
		}
		log.Reset()
		if f.readOrigins(); log.Len() > 0 {
			t.Errorf("%s: says it again: %s", c.name, log.String())
		}
	}
}
