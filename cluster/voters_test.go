package cluster

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// newVoters is a cluster whose voters are replaced after two minutes: DEC-14's ten are
// the default.
func newVoters(t *testing.T) (*virtual, map[string]*member) {
	v := newVirtual(t)
	if DefaultVoterTimeout != 10*time.Minute {
		t.Errorf("a voter is replaced after %v", DefaultVoterTimeout)
	}
	nodes := map[string]*member{}
	for _, name := range v.names {
		nodes[name] = v.start(impatient(v.config(name, t.TempDir())))
	}
	return v, nodes
}

func impatient(cfg Config) Config {
	cfg.VoterTimeout = 2 * time.Minute
	return cfg
}

// "a voter dead for 10 min is replaced by a live non-voter of its site while quorum
// stands" (DEC-14).
func TestDEC14_DeadVoterIsReplaced(t *testing.T) {
	long(t)
	synctest.Test(t, func(t *testing.T) {
		v, nodes := newVoters(t)
		founders := slices.Clone(v.names)
		for _, name := range []string{"dal-3", "ash-3"} {
			v.add(name)
			cfg := impatient(v.config(name, t.TempDir()))
			cfg.Voters = nil
			nodes[name] = v.start(cfg)
		}
		time.Sleep(time.Minute)
		first := v.propose(nodes["dal-1"], "first")

		v.stop(nodes["dal-2"])
		time.Sleep(110 * time.Second)
		if n := voters(nodes["ash-1"]); n != strings.Join(sorted(founders), " ") {
			t.Errorf("too soon after the death the voters are %s", n)
		}
		time.Sleep(20 * time.Second)
		if n := voters(nodes["ash-1"]); n != "ash-1 ash-2 dal-1 dal-3 wit-1" {
			t.Errorf("two minutes after the death the voters are %s", n)
		}
		// The new voter counts: with Ashburn gone, Dallas and the witness are a majority.
		v.isolate(true)
		time.Sleep(30 * time.Second)
		second := v.propose(nodes["dal-3"], "second")
		v.isolate(false)
		time.Sleep(30 * time.Second)

		// The dead one comes back, with what it had: it follows without a vote.
		nodes["dal-2"] = v.start(nodes["dal-2"].cfg)
		time.Sleep(2 * time.Minute)
		if n := voters(nodes["ash-1"]); n != "ash-1 ash-2 dal-1 dal-3 wit-1" {
			t.Errorf("after the return the voters are %s", n)
		}
		if got := nodes["dal-2"].Table().Version(); got != second || !second.Newer(first) {
			t.Errorf("the returned node runs %v, want %v", got, second)
		}

		// A dead member without a vote leaves the list, and is taken again when it lives.
		v.stop(nodes["ash-3"])
		time.Sleep(130 * time.Second)
		if knows(nodes["ash-1"], "ash-3") {
			t.Error("a dead member without a vote stays in the consensus")
		}
		nodes["ash-3"] = v.start(nodes["ash-3"].cfg)
		time.Sleep(time.Minute)
		if !knows(nodes["ash-1"], "ash-3") {
			t.Error("a returned member is not taken again")
		}
		v.endAll(nodes)
	})
}

// Nobody to replace the dead, or no quorum: the voters stay.
func TestDEC14_NoReplacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, nodes := newVoters(t)
		time.Sleep(time.Minute)
		v.propose(nodes["dal-1"], "first")
		all := voters(nodes["ash-1"])
		v.stop(nodes["dal-2"])
		v.stop(nodes["ash-2"])
		time.Sleep(5 * time.Minute)
		if n := voters(nodes["ash-1"]); n != all {
			t.Errorf("the voters are %s, want %s", n, all)
		}
		nodes["dal-2"], nodes["ash-2"] = v.start(nodes["dal-2"].cfg), v.start(nodes["ash-2"].cfg)
		time.Sleep(10 * time.Second)
		v.propose(nodes["dal-2"], "second")
		v.endAll(nodes)
	})
}

func knows(m *member, name string) bool {
	for _, s := range m.Status().Raft.Servers {
		if s.Name == name {
			return true
		}
	}
	return false
}

// electorateOf builds a case: a voter is "V", a non-voter "n"; small letters behind
// the name say that it is dead (d), came up just now (j) or lost its log (b).
func electorateOf(founders string, members ...string) *electorate {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := &electorate{seats: map[string]seat{}, now: now, cfg: &Config{VoterTimeout: 10 * time.Minute, VoterSettle: 30 * time.Second}}
	for name := range strings.FieldsSeq(founders) {
		e.cfg.Voters = append(e.cfg.Voters, Voter{Name: name, Address: name})
	}
	for _, m := range members {
		f := strings.Fields(m)
		s := raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(f[1]), Address: raft.ServerAddress(f[1])}
		if f[0] == "n" {
			s.Suffrage = raft.Nonvoter
		}
		seat := seat{site: f[1][:1], witness: f[1][:1] == "w", alive: true, since: now.Add(-time.Hour), up: now}
		switch {
		case len(f) > 2 && f[2] == "d":
			seat.alive, seat.up, seat.since = false, now.Add(-11*time.Minute), time.Time{}
		case len(f) > 2 && f[2] == "j":
			seat.since = now
		case len(f) > 2 && f[2] == "b":
			seat.blank = true
		}
		e.servers = append(e.servers, s)
		e.seats[f[1]] = seat
	}
	return e
}

func TestDEC14_Electorate(t *testing.T) {
	for name, c := range map[string]struct {
		founders string
		members  []string
		want     string
	}{
		"all well":                       {"d1 a1 w1", []string{"V d1", "V a1", "V w1", "n d2"}, ""},
		"dead, nobody of its site":       {"d1 a1 w1", []string{"V d1 d", "V a1", "V w1", "n a2"}, ""},
		"dead, the successor is too new": {"d1 a1 w1", []string{"V d1 d", "V a1", "V w1", "n d2 j"}, ""},
		"dead, a successor":              {"d1 a1 w1", []string{"V d1 d", "V a1", "V w1", "n a2", "n d2"}, "give a vote d2"},
		"the successor has its vote":     {"d1 a1 w1", []string{"V d1 d", "V a1", "V w1", "V d2"}, "remove d1"},
		"never below three":              {"d1 a1", []string{"V d1 d", "V a1", "V d2"}, ""},
		"two dead, one has a successor":  {"d1 a1 w1", []string{"V d1 d", "V a1 d", "V w1", "V d2"}, "remove d1"},
		"a voter lost its log":           {"d1 a1 w1", []string{"V d1", "V a1 b", "V w1"}, "take the vote away a1"},
		"and has not got it yet":         {"d1 a1 w1", []string{"V d1", "n a1 b", "V w1"}, ""},
		"a dead witness":                 {"d1 a1 w1", []string{"V d1", "V a1", "V w1 d", "n d2"}, ""},
		"a dead witness, another":        {"d1 a1 w1", []string{"V d1", "V a1", "V w1 d", "n d2", "n w2"}, "give a vote w2"},
		"a founder without a vote":       {"d1 a1 w1", []string{"V d1", "V a1", "n w1"}, "give a vote w1"},
		"a founder that just came":       {"d1 a1 w1", []string{"V d1", "V a1", "n w1 j"}, ""},
		"after a recovery":               {"d1 d2 a1 a2 w1", []string{"V d3", "n d1 d", "n d4"}, "give a vote d4"},
		"two founders, a third node":     {"d1 a1", []string{"V d1", "V a1", "n d2"}, ""},
		"a dead node without a vote":     {"d1 a1 w1", []string{"V d1", "V a1", "V w1", "n d2 d"}, "remove d2"},
		"a later node leads":             {"", []string{"V d3", "n d1", "n w1"}, "give a vote d1"},
	} {
		s, what := electorateOf(c.founders, c.members...).next()
		if got := strings.TrimSpace(what + " " + string(s.ID)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestDEC14_WhoIsDead(t *testing.T) {
	on := Reach{Name: "on", Voter: true, Interconnect: true, Gossip: true}
	gone := Reach{Name: "gone", Voter: true}
	me, torn := Reach{Name: "me", Voter: true}, Reach{Name: "me", Voter: true, Blank: true}
	for name, c := range map[string]struct {
		self    Reach
		reached []Reach
		refused string
	}{
		"alone of three":         {me, []Reach{gone, gone}, ""},
		"two of five":            {me, []Reach{on, gone, gone, gone}, ""},
		"three of five":          {me, []Reach{on, on, gone, gone}, "3 of 5"},
		"one lost its log":       {me, []Reach{gone, {Name: "blank", Voter: true, Interconnect: true, Blank: true}}, ""},
		"alone, with a torn log": {torn, nil, ""},
		"alone, all well":        {me, nil, "1 of 1"},
		"three of five, one of them without its log": {torn, []Reach{on, on, gone, gone}, ""},
		"without a vote, two of four":                {Reach{Name: "me"}, []Reach{on, on, gone, gone}, ""},
		"one answers by gossip":                      {me, []Reach{gone, {Name: "half", Voter: true, Gossip: true}}, "half answers by gossip"},
		"one answers a fresh connect":                {me, []Reach{gone, {Name: "half", Voter: true, Dial: true}}, "half answers by a fresh connect"},
		"a follower is half dead":                    {me, []Reach{gone, gone, {Name: "f", Gossip: true}}, ""},
	} {
		_, _, err := dead(c.self, c.reached)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}
