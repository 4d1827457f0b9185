package trunkgroup

import (
	"fmt"
	"slices"
	"strings"
)

// SessionSource says which count of calls the method least-sessions goes by
//
type SessionSource uint8

// The sources.
const (
	// SessionsMax is the larger one of what we count and what was reported.
	SessionsMax SessionSource = 1
	// SessionsOwn is what the nodes of the cluster count themselves.
	SessionsOwn SessionSource = 2
	// SessionsReported is what the far end told with its last REGISTER; one that
	// did not tell comes first.
	SessionsReported SessionSource = 3
)

// SessionSourceNames lists the sources as a document names them.
func SessionSourceNames() []string { return []string{"max", "own", "reported"} }

// String returns the name as it stands in YAML; empty for the zero value.
func (s SessionSource) String() string {
	if s < SessionsMax || s > SessionsReported {
		return ""
	}
	return SessionSourceNames()[s-1]
}

// MarshalText writes the name.
func (s SessionSource) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name; empty text leaves the zero value.
func (s *SessionSource) UnmarshalText(b []byte) error {
	*s = 0
	if len(b) == 0 {
		return nil
	}
	i := slices.Index(SessionSourceNames(), string(b))
	if i < 0 {
		return fmt.Errorf("unknown count of sessions %q", b)
	}
	*s = SessionSource(i + 1)
	return nil
}

// SessionCounter counts calls. Its method is called for each far end of a plan:
// it takes no lock and does not allocate.
type SessionCounter interface {
	// Sessions returns how many calls of all nodes are up or being set up at a
	// member, or at one binding of it.
	Sessions(m *Member, b *Binding) int
}

// CountsSessions tells whether the calls of the group's far ends are counted:
// only where a distribution goes by them, its own or that of a group in which it stands.
func (g *Group) CountsSessions() bool { return g.counts }

// FarEnd names one far end of a group in the cluster: a member, or one binding
// of a member that registers.
func FarEnd(m *Member, b *Binding) string {
	if b == nil {
		return m.Key
	}
	return m.Key + "\x00" + b.ID
}

// named tells whether a slot is the far end of this name.
func (s slot) named(farEnd string) bool {
	key := s.member.Key
	if s.binding == nil {
		return farEnd == key
	}
	n := len(key)
	return len(farEnd) > n && farEnd[:n] == key && farEnd[n] == 0 && farEnd[n+1:] == s.binding.ID
}

// sessions is what the method least-sessions compares.
func (v *View) sessions(s slot, source SessionSource) int {
	own, reported := 0, -1
	if v.Sessions != nil && source != SessionsReported {
		own = v.Sessions.Sessions(s.member, s.binding)
	}
	if s.binding != nil {
		reported = s.binding.Sessions
	}
	switch source {
	case SessionsOwn:
		return own
	case SessionsReported:
		return reported
	default:
		return max(own, reported)
	}
}

// leastSessions orders far ends by their calls, the fewest first. Among
// equals it is the turn that decides, or for a call with an affinity value the
// value itself, so that nodes that count alike choose alike.
func (o *ordering) leastSessions(tier []slot) {
	for i := range tier {
		s := &tier[i]
		s.rank = uint64(o.load(s) + 1) // one that did not tell has -1
		if o.d.Affinity != 0 {
			s.rank = s.rank<<scoreBits | ^s.scoreOf(o.d.Affinity)>>(64-scoreBits)
		}
	}
	if o.d.Affinity != 0 {
		byRank(tier)
		return
	}
	o.byRankInTurns(tier)
}

// scoreBits are those of a score that decide among equals.
const scoreBits = 36

// load is what the method least-sessions compares; of a group that stands there, the
// calls of its members that take calls.
func (o *ordering) load(s *slot) int {
	if s.member.Nested == nil {
		return max(o.v.sessions(*s, o.g.Sessions), -1)
	}
	n := 0
	for _, in := range o.p.inner[s.from:s.to] {
		n += max(o.v.sessions(in, o.g.Sessions), 0)
	}
	return n
}

// scoreOf is the far end's place for an affinity value: with a far end more or
// less, the order of the others stays (rendezvous hashing).
func (s slot) scoreOf(affinity uint64) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	for i := range len(s.member.Key) {
		h = (h ^ uint64(s.member.Key[i])) * prime
	}
	if s.binding != nil {
		h *= prime
		for i := range len(s.binding.ID) {
			h = (h ^ uint64(s.binding.ID[i])) * prime
		}
	}
	_, score := splitMix(h ^ affinity)
	return score
}

// toFront puts the far end of this name before all others, whatever its
// priority, and tells whether it is among them.
func toFront(order []slot, farEnd string) bool {
	for i := range order {
		if order[i].named(farEnd) {
			first := order[i]
			copy(order[1:i+1], order[:i])
			order[0] = first
			return true
		}
	}
	return false
}

// SiteOf returns the site whose calls the far end of this name takes now, or ""
// when it gets none anywhere.
func (v *View) SiteOf(t *Table, g *Group, farEnd string) string {
	key, id, bound := strings.Cut(farEnd, "\x00")
	m := t.Member(key)
	if m == nil || !g.holds(m) || bound != (m.Registration != nil) || v.dialable(m, v.Panic[m.Site]) != "" {
		return ""
	}
	if !bound {
		return m.Site
	}
	if v.Registry == nil {
		return ""
	}
	for _, b := range v.Registry.Bindings(m.Registration.AOR) {
		if b.ID != id {
			continue
		}
		if site, cause := v.Registry.Reach(b); cause == "" {
			return site
		}
		return ""
	}
	return ""
}
