package sdnotify

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// heard is a manager that keeps what it is told, with when.
type heard struct {
	mu       sync.Mutex
	watchdog time.Duration
	began    time.Time
	lines    []string
	err      error
}

func (h *heard) Watchdog() time.Duration { return h.watchdog }

func (h *heard) Serving() bool { return h.with("READY") != nil && h.with("STOPPING") == nil }

func (h *heard) Tell(lines ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range lines {
		h.lines = append(h.lines, time.Since(h.began).String()+" "+l)
	}
	return h.err
}

// with returns the messages that begin with a name.
func (h *heard) with(name string) (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.lines {
		if strings.Contains(l, " "+name+"=") {
			out = append(out, l)
		}
	}
	return out
}

// fake is a node as a test wants it.
type fake struct {
	mu            sync.Mutex
	unready, line string
	ends, hangs   bool
	slow          time.Duration // an answer takes this long
}

func (f *fake) set(change func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fake) get() fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fake{unready: f.unready, line: f.line, ends: f.ends, hangs: f.hangs, slow: f.slow}
}

func (f *fake) Unready() string { g := f.get(); return g.unready }
func (f *fake) Line() string    { g := f.get(); return g.line }
func (f *fake) Ends() bool      { g := f.get(); return g.ends }

func (f *fake) Answers(ctx context.Context) error {
	g := f.get()
	if !g.hangs && g.slow == 0 {
		return nil
	}
	answer := time.NewTimer(g.slow)
	defer answer.Stop()
	if g.hangs {
		answer.Stop()
	}
	select {
	case <-answer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// elapse lets virtual time pass.
func elapse(d time.Duration) { time.Sleep(d) }

// keeping runs Keep in a bubble, beside the test.
func keeping(t *testing.T, watchdog time.Duration, f *fake, test func(h *heard)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &heard{watchdog: watchdog, began: time.Now()}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go Keep(ctx, h, f, slog.New(slog.DiscardHandler))
		synctest.Wait()
		test(h)
		cancel()
		synctest.Wait()
	})
}

func TestReadyIsToldOnceAndWhenItIsTrue(t *testing.T) {
	f := &fake{unready: "config: no document", line: "serving, 0 calls"}
	keeping(t, 0, f, func(h *heard) {
		if got := h.lines; !slices.Equal(got, []string{"0s STATUS=serving, 0 calls; not ready: config: no document"}) {
			t.Fatalf("at first: %q", got)
		}
		elapse(9 * time.Second)
		f.set(func(f *fake) { f.unready = "" })
		elapse(time.Minute)
		if got := h.with("READY"); !slices.Equal(got, []string{"10s READY=1"}) {
			t.Errorf("got %q", got)
		}
		if got := h.with("STATUS"); len(got) != 2 || got[1] != "10s STATUS=serving, 0 calls" {
			t.Errorf("a line that does not change is told again: %q", got)
		}
		if got := h.with("WATCHDOG"); got != nil {
			t.Errorf("nobody watches, and hears %q", got)
		}
	})
}

// A node that waits for its cluster is not killed for it.
func TestPatienceWithANodeThatIsNotReady(t *testing.T) {
	keeping(t, 0, &fake{unready: "config: no document"}, func(h *heard) {
		elapse(2 * time.Minute)
		if got := h.with("READY"); !slices.Equal(got, []string{"30s READY=1"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestWatchdogIsFedOnlyWhileTheLoopsAnswer(t *testing.T) {
	f := &fake{line: "serving"}
	keeping(t, 3*time.Second, f, func(h *heard) {
		elapse(5*time.Second + time.Millisecond)
		if got := len(h.with("WATCHDOG")); got != 6 {
			t.Errorf("in 5 s with an interval of 3 s it was told %d times", got)
		}
		f.set(func(f *fake) { f.hangs = true })
		elapse(time.Minute)
		if got := len(h.with("WATCHDOG")); got != 6 {
			t.Errorf("a node that hangs tells that it works: %d", got)
		}
		f.set(func(f *fake) { f.hangs = false })
		elapse(10 * time.Second)
		if got := len(h.with("WATCHDOG")); got < 14 {
			t.Errorf("a node that works again does not tell: %d", got)
		}
	})
}

func TestTheEndIsToldOnce(t *testing.T) {
	f := &fake{line: "serving"}
	keeping(t, 0, f, func(h *heard) {
		elapse(3 * time.Second)
		f.set(func(f *fake) { f.ends, f.line, f.unready = true, "passing, 3 calls", "drain: passing" })
		elapse(10 * time.Second)
		if got := h.with("STOPPING"); !slices.Equal(got, []string{"4s STOPPING=1"}) {
			t.Errorf("got %q", got)
		}
		if got := h.lines[len(h.lines)-1]; got != "4s STATUS=passing, 3 calls" {
			t.Errorf("a node that ends complains that it is not ready: %q", got)
		}
	})
}

// A node that is busy answers late, and the watchdog does not end it; one that hangs is told of by nothing.
func TestWatchdogSparesABusyNode(t *testing.T) {
	const watchdog = 30 * time.Second
	f := &fake{line: "serving", slow: 12 * time.Second}
	keeping(t, watchdog, f, func(h *heard) {
		elapse(10 * time.Minute)
		last := time.Duration(0)
		for _, l := range h.with("WATCHDOG") {
			word, _, _ := strings.Cut(l, " ")
			at, err := time.ParseDuration(word)
			if err != nil || at-last >= watchdog {
				t.Fatalf("at %s, after %s, %v", at, last, err)
			}
			last = at
		}
		if last < 9*time.Minute {
			t.Errorf("it was fed last after %s", last)
		}
	})
}

func TestReload(t *testing.T) {
	h := &heard{began: time.Now()}
	told := func() (words []string) {
		for _, l := range h.lines {
			_, word, _ := strings.Cut(l, " ")
			words = append(words, word)
		}
		return words
	}
	// The manager would take the end of a reload for the end of the start.
	for range 100 {
		if err := Reload(h, func() {}); err != nil || len(h.lines) != 0 {
			t.Fatalf("before it is ready: %v %q", err, h.lines)
		}
	}
	h.lines = []string{"0s READY=1"}
	err := Reload(h, func() {
		if got := told(); !slices.Equal(got, []string{"READY=1", "RELOADING=1"}) {
			t.Errorf("meanwhile: %q", got)
		}
	})
	if got := told(); err != nil || !slices.Equal(got, []string{"READY=1", "RELOADING=1", "READY=1"}) {
		t.Errorf("%v %q", err, got)
	}
	h.err = errors.New("nobody hears")
	done := false
	if err := Reload(h, func() { done = true }); err == nil || !done {
		t.Errorf("a manager that does not hear: %v, reloaded %v", err, done)
	}
	h.err, h.lines = nil, []string{"0s READY=1"}
	err = Reload(h, func() { h.lines = append(h.lines, "1s STOPPING=1") })
	if got := told(); err != nil || !slices.Equal(got, []string{"READY=1", "RELOADING=1", "STOPPING=1"}) {
		t.Errorf("a reload that calls the end off: %v %q", err, got)
	}
}

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		env      map[string]string
		none     bool
		watchdog time.Duration
		wrong    bool
	}{
		"no manager":        {none: true},
		"a path":            {env: map[string]string{"NOTIFY_SOCKET": "/run/systemd/notify"}},
		"an abstract name":  {env: map[string]string{"NOTIFY_SOCKET": "@x"}},
		"a name":            {env: map[string]string{"NOTIFY_SOCKET": "run/notify"}, wrong: true},
		"watched":           {env: map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, watchdog: 30 * time.Second},
		"watched, any pid":  {env: map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "1"}, watchdog: time.Microsecond},
		"another's":         {env: map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "8"}},
		"no interval":       {env: map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "soon"}, wrong: true},
		"an interval of 0":  {env: map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "0"}, wrong: true},
		"longer than a day": {env: map[string]string{"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "9223372036854775807"}, wrong: true},
	} {
		m, err := Find(func(k string) string { return c.env[k] }, 7)
		if (err != nil) != c.wrong || (m == nil) != (c.none || c.wrong) || m.Watchdog() != c.watchdog {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

// What arrives at a real socket is one datagram a message, and a line stays a line.
func TestTell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m, err := Find(func(k string) string { return map[string]string{"NOTIFY_SOCKET": path}[k] }, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Tell("READY=1", "STATUS=two\nMAINPID=1"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 200)
	n, err := conn.Read(buf)
	if got, want := string(buf[:n]), "READY=1\nSTATUS=two MAINPID=1"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if !m.Serving() {
		t.Error("the manager was told that it is ready")
	}
	conn.Close()
	if err := m.Tell("STOPPING=1"); err == nil || m.Serving() {
		t.Errorf("an end that nobody heard of: %v", err)
	}
	if err := m.Tell("WATCHDOG=1"); err == nil {
		t.Error("nobody listens, and nobody says so")
	}
	if err := (*Manager)(nil).Tell("READY=1"); err != nil {
		t.Errorf("without a manager: %v", err)
	}
}
