package cdrsink

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cdr/profile"
	"github.com/tandem-sbc/tandem/monitor/cdrlog"
)

// A sink that is away tries again with growing pauses and loses nothing; one beside it
// never waits for it.
func TestDEC24_DeadSinkHoldsNobodyUp(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := spool(t, dir, nil)
		s := open(t, l, dir, sinkConfig("dead", File), sinkConfig("well", File), sinkConfig("hung", File))
		dead, well, hung := &fake{fail: errAway}, &fake{}, &fake{hang: true}
		use(s, dead, well, hung)
		s.Start()
		write(t, l, 0, 250)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := well.list(t); !slices.Equal(got, calls(0, 250)) {
			t.Errorf("the sink that does well has %d", len(got))
		}
		time.Sleep(10 * time.Minute)
		st := s.Status()
		if st[0].Backlog != 250 || !contains(st[0], "away") || time.Since(st[0].Since) < 9*time.Minute || !st[0].Oldest.Equal(call(0).End) || st[0].Next != 1 {
			t.Errorf("%+v", st[0])
		}
		if st[1].Backlog != 0 || st[1].Failing || st[1].Sent != 250 || !st[1].Oldest.IsZero() {
			t.Errorf("%+v", st[1])
		}
		if !contains(st[2], "deadline") || st[2].Backlog != 250 {
			t.Errorf("%+v", st[2])
		}
		if s.Passed() != 1 {
			t.Errorf("all have everything below %d", s.Passed())
		}
		if n := len(dead.tries); n < 14 || n > 24 { // 8 while it doubles, then one a minute
			t.Errorf("%d tries in 10 minutes", n)
		}
		dead.set(nil)
		time.Sleep(2 * time.Minute)
		if got := dead.list(t); !slices.Equal(got, calls(0, 250)) {
			t.Errorf("after it came back: %d", len(got))
		}
		stopAll(t, s, l)
		if dead.closed+well.closed+hung.closed != 3 {
			t.Error("a target was not closed")
		}
	})
}

// Before anything else a stopped set passes on what there is, and a new one goes on there.
func TestDEC24_RestartsLoseNothing(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		for run := range 4 {
			l := spool(t, dir, func(c *cdrlog.Config) { c.MaxSize = 4 << 10 })
			s := open(t, l, dir, sinkConfig("a", File))
			f := &fake{}
			if run == 2 {
				f.fail = errAway
			}
			use(s, f)
			s.Start()
			write(t, l, 50*run, 50*run+50)
			stopAll(t, s, l)
			got = append(got, f.list(t)...)
		}
		if !slices.Equal(got, calls(0, 200)) {
			t.Errorf("%d records: %v", len(got), got)
		}
	})
}

// A batch that is too large is halved, and grows again.
func TestTooMuchIsHalved(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := spool(t, dir, nil)
		s := open(t, l, dir, sinkConfig("a", HTTP))
		f := &fake{fail: fmt.Errorf("%w: 413", errTooMuch)}
		use(s, f)
		write(t, l, 0, 200)
		time.Sleep(time.Second)
		s.Start()
		time.Sleep(3 * time.Second)
		f.set(nil)
		time.Sleep(time.Minute)
		stopAll(t, s, l)
		if got := f.list(t); !slices.Equal(got, calls(0, 200)) {
			t.Errorf("%d records", len(got))
		}
		if f.sizes[0] != 100 || f.sizes[1] != 50 || f.sizes[2] != 25 || slices.Max(f.sizes[4:]) < 4*f.sizes[3] {
			t.Errorf("batches of %v", f.sizes)
		}
	})
}

// A batch that was under way when the process died is the same batch afterwards.
func TestBatchAfterACrashIsTheSame(t *testing.T) {
	dir := t.TempDir()
	l := spool(t, dir, nil)
	s := open(t, l, dir, sinkConfig("a", HTTP))
	write(t, l, 0, 30)
	settled(t, l)
	one := s.sinks[0]
	if more, err := one.fill(one.limit, 0); !more || err != nil {
		t.Fatal(err)
	}
	one.target = &fake{fail: errAway}
	if one.deliver(t.Context()) {
		t.Fatal("delivered")
	}
	first := one.batch
	write(t, l, 30, 60)
	settled(t, l)
	again := open(t, l, dir, sinkConfig("a", HTTP)).sinks[0]
	if more, err := again.fill(again.limit, again.place.Sending); !more || err != nil {
		t.Fatal(err)
	}
	if b := again.batch; b.count != 30 || b.first != first.first || b.last != 30 {
		t.Errorf("a batch of %d, %d to %d", b.count, b.first, b.last)
	}
	stopAll(t, s, l)
	again.tail.Close()
	one.tail.Close()
}

// Whoever cannot tell kinds apart gets calls only; holes are counted once.
func TestKindsAndGaps(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := spool(t, dir, nil)
		cfg := sinkConfig("a", File)
		cfg.Profile = profile.Named("asterisk")
		only := sinkConfig("b", File)
		only.Kinds = []cdr.Kind{cdr.KindHandoff}
		s := open(t, l, dir, cfg, only)
		a, b := &fake{fail: errAway}, &fake{}
		use(s, a, b)
		s.Start()
		for n := range 6 {
			r := call(n)
			if n%2 == 1 {
				r.Kind = cdr.KindHandoff
			}
			if n == 4 {
				r.CallID = "" // cannot be written
			}
			l.Write(r)
		}
		time.Sleep(5 * time.Minute)
		a.set(nil)
		time.Sleep(5 * time.Minute)
		st := s.Status()
		if st[0].Sent != 2 || st[0].Gaps != 1 || st[1].Sent != 3 || st[1].Gaps != 1 || st[0].Backlog+st[1].Backlog != 0 {
			t.Errorf("%+v", st)
		}
		stopAll(t, s, l)
	})
}

// A place that cannot be read means once more, not never.
func TestLostPlaceBeginsAtTheOldest(t *testing.T) {
	dir := t.TempDir()
	l := spool(t, dir, nil)
	write(t, l, 0, 3)
	settled(t, l)
	if err := os.MkdirAll(filepath.Join(dir, "sinks"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"torn": `{"at":{"ne`, "negative": `{"at":{"offset":-1}}`, "sent": `{"at":{"next":3,"first":1,"offset":9},"sending":1}`} {
		if err := os.WriteFile(filepath.Join(dir, "sinks", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	oldest := sinkConfig("oldest", File)
	oldest.Oldest = true
	s := open(t, l, dir, sinkConfig("torn", File), sinkConfig("negative", File), oldest, sinkConfig("new", File), sinkConfig("sent", File))
	fakes := []*fake{{}, {}, {}, {}, {}}
	use(s, fakes...)
	s.Start()
	write(t, l, 3, 4)
	stopAll(t, s, l)
	for i, want := range [][]string{calls(0, 4), calls(0, 4), calls(0, 4), calls(3, 4), calls(0, 4)} {
		if got := fakes[i].list(t); !slices.Equal(got, want) {
			t.Errorf("%s has %v", s.sinks[i].cfg.Name, got)
		}
	}
}

// The spool keeps what a sink lacks, whatever its age.
func TestKeepWaitsForAllSinks(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := spool(t, dir, func(c *cdrlog.Config) { c.MaxSize = 1 << 10 })
		s := open(t, l, dir, sinkConfig("a", File))
		s.cfg.Keep = time.Nanosecond
		f := &fake{fail: errAway}
		use(s, f)
		s.Start()
		write(t, l, 0, 50)
		count := func() int {
			files, err := filepath.Glob(filepath.Join(dir, "cdr*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			return len(files)
		}
		time.Sleep(10 * time.Minute)
		if n := count(); n < 5 {
			t.Errorf("%d files while the sink is away", n)
		}
		f.set(nil)
		time.Sleep(10 * time.Minute)
		// The dates of files are those of the real clock, which is later than this one's.
		if _, err := l.Prune(time.Now().AddDate(100, 0, 0), s.Passed()); err != nil {
			t.Error(err)
		}
		if n := count(); n != 1 {
			t.Errorf("%d files when the sink has all", n)
		}
		stopAll(t, s, l)
		if got := f.list(t); !slices.Equal(got, calls(0, 50)) {
			t.Errorf("%d records", len(got))
		}
	})
}

// Whatever fails in between, and wherever the process is killed: each record arrives, in
// order, and comes again only after a crash.
func TestDEC24_AtLeastOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		steps := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 12).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			edit := func(c *cdrlog.Config) { c.MaxSize = 2 << 10 }
			cfg := sinkConfig("a", HTTP)
			cfg.Batch = 7
			l := spool(t, dir, edit)
			s := open(t, l, dir, cfg)
			f := &fake{}
			use(s, f)
			s.Start()
			var got []string
			n := 0
			for _, step := range steps {
				switch step {
				case 0, 1:
					write(t, l, n, n+5)
					n += 5
				case 2:
					f.set(errAway)
				case 3:
					f.set(nil)
				case 4:
					time.Sleep(3 * time.Second)
				case 5:
					stopAll(t, s, l)
					got = append(got, f.list(t)...)
					l = spool(t, dir, edit)
					s = open(t, l, dir, cfg)
					f = &fake{}
					use(s, f)
					s.Start()
				}
			}
			f.set(nil)
			time.Sleep(5 * time.Minute)
			stopAll(t, s, l)
			got = append(got, f.list(t)...)
			if !slices.Equal(got, calls(0, n)) {
				rt.Fatalf("got %v of %d", got, n)
			}
		})
	})
}
