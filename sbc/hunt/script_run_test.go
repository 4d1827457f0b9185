package hunt

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// script is one call on its way through a script.
type script struct {
	cfg    Config
	names  []string
	seq    *Sequence
	zero   time.Time
	now    time.Time
	finals int
	dials  int
	out    strings.Builder
	// groups are the indices of named groups; group and within are of the targets that follow.
	groups        map[string]int
	group, within int
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	switch d.Cmd {
	case "config":
		s.check(t)
		*s = script{zero: time.Unix(0, 0), groups: map[string]int{}}
		s.cfg.Groups = []Group{{}}
		s.now = s.zero
		s.config(t, d)
		return ""
	case "start":
		s.seq = New(s.cfg, s.now)
		s.done(s.seq.Start(s.now))
	case "recv":
		code := number(t, d, 1)
		if at := s.attempt(t, d); code < 200 {
			s.done(s.seq.Provisional(s.now, at, code))
		} else {
			s.done(s.seq.Final(s.now, at, code))
		}
	case "error":
		s.done(s.seq.TransportError(s.now, s.attempt(t, d), word(d, 1)))
	case "undialable":
		s.done(s.seq.Undialable(s.now, s.attempt(t, d), word(d, 1)))
	case "advance":
		s.advance(duration(t, word(d, 0)))
	case "late":
		s.now = s.now.Add(duration(t, word(d, 0)))
	case "expire":
		s.done(s.seq.Expire(s.now))
	case "cancel":
		s.done(s.seq.Cancel(s.now))
	case "handoff":
		s.handoff(t, d)
	case "attempts":
		for i := range s.seq.Attempts() {
			fmt.Fprintln(&s.out, s.describe(&s.seq.Attempts()[i]))
		}
	case "deadline":
		if at := s.seq.Deadline(); !at.IsZero() {
			fmt.Fprintln(&s.out, at.Sub(s.zero))
		}
	default:
		d.Fatalf(t, "unknown command")
	}
	if s.out.Len() == 0 {
		return "nothing"
	}
	return s.out.String()
}

// check states what holds for every call, whatever the script.
func (s *script) check(t *testing.T) {
	t.Helper()
	if s.seq == nil {
		return
	}
	if s.finals != 1 {
		t.Errorf("the caller got %d final responses, want 1", s.finals)
	}
	if !s.seq.State().Done() || !s.seq.Deadline().IsZero() {
		t.Errorf("the script ends in state %v with deadline %v, want an end", s.seq.State(), s.seq.Deadline())
	}
	if s.dials > len(s.cfg.Targets) {
		t.Errorf("%d dials for %d targets", s.dials, len(s.cfg.Targets))
	}
}

func (s *script) config(t *testing.T, d *datadriven.TestData) {
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "ring":
			s.cfg.Ring = duration(t, a.Vals[0])
		case "max_pdd":
			s.cfg.MaxPDD = duration(t, a.Vals[0])
		case "reserve":
			s.cfg.HandoffReserve = duration(t, a.Vals[0])
		case "handoff":
			s.cfg.Handoff = true
		case "peer_first":
			s.cfg.PeerFirst = true
		case "handoff_on":
			s.cfg.HandoffOn = causes(t, a.Vals)
		case "max_attempts":
			s.cfg.Groups[0].MaxAttempts = int(atoi(t, a.Vals[0]))
		case "exhausted":
			s.cfg.Exhausted = int(atoi(t, a.Vals[0]))
		default:
			d.Fatalf(t, "unknown argument %s", a.Key)
		}
	}
	for line := range strings.SplitSeq(d.Input, "\n") {
		if line == "" {
			continue
		}
		name, args, err := datadriven.ParseLine(line)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		if rest, ok := strings.CutPrefix(name, "@"); ok {
			s.rules(t, d, rest, args)
			continue
		}
		s.names = append(s.names, name)
		s.cfg.Targets = append(s.cfg.Targets, s.targetOf(t, d, args))
	}
}

func (s *script) targetOf(t *testing.T, d *datadriven.TestData, args []datadriven.CmdArg) Target {
	tg := Target{Dialable: true, Group: s.group, Within: s.within}
	for _, a := range args {
		switch a.Key {
		case "down":
			tg.Dialable, tg.Cause = false, "down"
			if len(a.Vals) > 0 {
				tg.Cause = a.Vals[0]
			}
		case "b_timer":
			tg.BTimer = duration(t, a.Vals[0])
		case "progress":
			tg.Progress = duration(t, a.Vals[0])
		case "reroute":
			tg.RerouteAfterProgress = true
		case "alternate":
			tg.Alternate = true
		case "tier":
			tg.Tier = int(atoi(t, a.Vals[0]))
		case "advance_on": // a group of its own
			tg.Group, tg.Within = len(s.cfg.Groups), len(s.cfg.Groups)
			s.cfg.Groups = append(s.cfg.Groups, Group{AdvanceOn: causes(t, a.Vals)})
		default:
			d.Fatalf(t, "unknown argument %s", a.Key)
		}
	}
	return tg
}

// rules reads a group, to which the targets below it belong.
func (s *script) rules(t *testing.T, d *datadriven.TestData, name string, args []datadriven.CmdArg) {
	var g Group
	s.group = len(s.cfg.Groups)
	s.groups[name], s.within = s.group, s.group
	for _, a := range args {
		switch a.Key {
		case "max_attempts":
			g.MaxAttempts = int(atoi(t, a.Vals[0]))
		case "setup":
			g.Setup = duration(t, a.Vals[0])
		case "parallel":
			g.Parallel = true
		case "advance_on":
			g.AdvanceOn = causes(t, a.Vals)
		case "never_advance":
			g.NeverAdvance = causes(t, a.Vals)
		case "within":
			s.within = s.groups[a.Vals[0]]
		default:
			d.Fatalf(t, "unknown argument %s", a.Key)
		}
	}
	s.cfg.Groups = append(s.cfg.Groups, g)
}

func (s *script) advance(d time.Duration) {
	end := s.now.Add(d)
	for {
		at := s.seq.Deadline()
		if at.IsZero() || at.After(end) {
			break
		}
		s.now = at
		s.done(s.seq.Expire(at))
	}
	s.now = end
}

func (s *script) handoff(t *testing.T, d *datadriven.TestData) {
	var r HandoffResult
	switch what := word(d, 0); what {
	case "answered":
		r.Answered, r.Code = true, 200
	case "refused":
		r.Accepted = true
	case "lost":
	default:
		s.done(s.seq.HandoffProvisional(s.now, int(atoi(t, what))))
		return
	}
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "code":
			r.Code = int(atoi(t, a.Vals[0]))
		case "definitive":
			r.Definitive = true
		}
	}
	for line := range strings.SplitSeq(d.Input, "\n") {
		if f := strings.Fields(line); len(f) > 1 {
			r.Attempts = append(r.Attempts, peerAttempt(t, f))
		}
	}
	s.done(s.seq.HandoffDone(s.now, r))
}

func peerAttempt(t *testing.T, f []string) Attempt {
	a := Attempt{Site: "ashburn", Group: "acme", Member: f[0], Code: int(atoi(t, f[1])), Dialed: true, Final: true}
	for _, how := range f[2:] {
		if how == "fork" {
			a.Fork = 1
			continue
		}
		a.Final, a.Cause = false, how
		switch how {
		case "down":
			a.Dialed = false
		case "rang":
			a.Progress = true
		}
	}
	return a
}

// done prints actions, and the failed attempts after the last.
func (s *script) done(actions []Action) {
	for _, a := range actions {
		fmt.Fprintf(&s.out, "%-6v %s\n", s.now.Sub(s.zero), s.say(a))
		if a.Kind == Dial {
			s.dials++
		}
		if !a.Kind.Final() {
			continue
		}
		s.finals++
		var failed []string
		for i := range s.seq.Attempts() {
			if at := &s.seq.Attempts()[i]; at.Failed() {
				failed = append(failed, fmt.Sprintf("%s %d%s", s.name(at), at.Code, map[bool]string{false: " not dialed"}[at.Dialed]))
			}
		}
		fmt.Fprintf(&s.out, "       attempts [%s]\n", strings.Join(failed, ", "))
	}
}

func (s *script) say(a Action) string {
	name := ""
	if a.Attempt >= 0 {
		name = s.name(&s.seq.Attempts()[a.Attempt])
	}
	switch a.Kind {
	case Dial:
		return "dial " + name
	case Abandon:
		return fmt.Sprintf("abandon %s (%s)", name, a.Cause)
	case Relay, Answer, Forward:
		return fmt.Sprintf("%v %s %d", a.Kind, name, a.Code)
	case CancelHandoff:
		return fmt.Sprintf("%v (%s)", a.Kind, a.Cause)
	case Fail:
		if a.Definitive {
			return a.String() + ", definitive"
		}
	}
	return a.String()
}

func (s *script) name(a *Attempt) string {
	if a.Site != "" {
		return a.Site + ":" + a.Member
	}
	return s.names[a.Target]
}

func (s *script) describe(a *Attempt) string {
	d := fmt.Sprintf("%s %d after %v", s.name(a), a.Code, a.Elapsed)
	for _, w := range []struct {
		say bool
		as  string
	}{{!a.Dialed, "not dialed"}, {a.Progress, "progress"}, {a.Final, "final"}, {a.Cause != "", a.Cause}} {
		if w.say {
			d += ", " + w.as
		}
	}
	return d
}

// attempt returns the latest attempt of the target that the command names.
func (s *script) attempt(t *testing.T, d *datadriven.TestData) int {
	name := word(d, 0)
	for i := len(s.seq.Attempts()) - 1; i >= 0; i-- {
		if s.name(&s.seq.Attempts()[i]) == name {
			return i
		}
	}
	d.Fatalf(t, "%s was not tried", name)
	return -1
}

func word(d *datadriven.TestData, i int) string {
	if i < len(d.CmdArgs) {
		return d.CmdArgs[i].Key
	}
	return ""
}

func number(t *testing.T, d *datadriven.TestData, i int) int { return int(atoi(t, word(d, i))) }

func atoi(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func duration(t *testing.T, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func causes(t *testing.T, vals []string) trunkgroup.CauseSet {
	t.Helper()
	var codes []int
	for _, v := range vals {
		codes = append(codes, int(atoi(t, v)))
	}
	return trunkgroup.Causes(codes...)
}
