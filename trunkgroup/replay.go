package trunkgroup

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Shift is one way in which calls would go elsewhere.
type Shift struct {
	Calls    int      `json:"calls"`
	Was      string   `json:"was"`
	Would    string   `json:"would"`
	Examples []string `json:"examples"` // calls that would shift, as the asker named them
}

// Replay is what two tables make of the same calls.
type Replay struct {
	Asked     int     `json:"asked"`
	Different int     `json:"different"` // would route differently
	Shifts    []Shift `json:"shifts"`    // the most frequent first
	More      int     `json:"more,omitempty"`
}

// Bounds of a Replay.
const (
	maxShifts   = 20
	maxExamples = 3
	maxListed   = 8 // members of a group in one site that are named
)

// Rerun asks two tables about the same calls and says which would route
// differently: by another group, to other members, or with another answer.
// Whose turn it is and who is down does not count: a call is different when
// what may be chosen for it is. Each question comes with the words that name
// it to a person.
func Rerun(was, would *Table, questions iter.Seq2[string, Query]) Replay {
	old, now := newTeller(was), newTeller(would)
	shifts := make(map[[2]string]*Shift)
	r := Replay{Shifts: []Shift{}}
	for name, q := range questions {
		r.Asked++
		a, aText := old.tell(q)
		b, bText := now.tell(q)
		if a == b {
			continue
		}
		r.Different++
		s := shifts[[2]string{a, b}]
		if s == nil {
			s = &Shift{Was: aText, Would: bText}
			if aText == bText {
				s.Would += ", called, chosen or reached in another way: see what changes"
			}
			shifts[[2]string{a, b}] = s
		}
		s.Calls++
		if len(s.Examples) < maxExamples && !slices.Contains(s.Examples, name) {
			s.Examples = append(s.Examples, name)
		}
	}
	for _, s := range shifts {
		r.Shifts = append(r.Shifts, *s)
	}
	slices.SortFunc(r.Shifts, func(a, b Shift) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Was, b.Was), cmp.Compare(a.Would, b.Would))
	})
	if over := len(r.Shifts) - maxShifts; over > 0 {
		r.Shifts, r.More = r.Shifts[:maxShifts], over
	}
	return r
}

// teller puts decisions of one table into words.
type teller struct {
	t      *Table
	groups map[groupAt]choice
}

type groupAt struct {
	group, site string
}

// choice is whom a group gives to choose from, for comparing and for reading.
type choice struct{ key, text string }

func newTeller(t *Table) *teller { return &teller{t: t, groups: make(map[groupAt]choice)} }

// tell returns a key that is equal when two tables offer the same ways, and
// the words for it. A nil table has no way for anybody.
func (r *teller) tell(q Query) (key, text string) {
	if r.t == nil {
		return "", "no document"
	}
	d := Decide(r.t, q)
	switch {
	case d.Ingress == nil:
		return "401", "nobody is identified: 401"
	case len(d.Groups) == 0:
		return fmt.Sprint(d.Direction, d.Ingress.Name, d.Code), fmt.Sprintf("%s from %s: %d", d.Direction, d.Ingress.Name, cmp.Or(d.Code, 404))
	}
	keys, words := make([]string, 0, len(d.Groups)), make([]string, 0, len(d.Groups))
	for _, g := range d.Groups {
		c := r.choice(g, q.Site)
		keys, words = append(keys, c.key), append(words, c.text)
	}
	head := fmt.Sprintf("%s from %s to ", d.Direction, d.Ingress.Name)
	return head + d.Called + strings.Join(keys, ";"), head + strings.Join(words, ", then ")
}

func (r *teller) choice(g *Group, site string) choice {
	at := groupAt{g.Name, site}
	if c, ok := r.groups[at]; ok {
		return c
	}
	var key, text strings.Builder
	fmt.Fprintf(&key, "%s %s %s %s %s%s %t", g.Name, g.Method, g.Sessions, g.AffinityHeader, g.Key, g.KeyHeader, g.UserOnly)
	text.WriteString(g.Name)
	for i, s := range append([]string{site}, r.t.PeerSites(site)...) {
		var names []string
		for _, m := range g.sites[s].inOrder(g.Method) {
			if m.Disabled {
				continue
			}
			fmt.Fprintf(&key, " %s/%s=%s%s:%d/%s/%d/%d/%t", s, m.ID, m.Addr, m.FQDN, m.Port, m.Transport, m.Priority, m.Weight, m.LastResort)
			switch {
			case m.Registration != nil:
				key.WriteString(m.Registration.AOR)
			case m.Nested != nil:
				key.WriteString(r.choice(m.Nested, s).key)
			}
			names = append(names, m.ID)
		}
		if i == 0 || len(names) > 0 {
			fmt.Fprintf(&text, " [%s: %s]", s, listed(names))
		}
	}
	c := choice{key.String(), text.String()}
	r.groups[at] = c
	return c
}

// inOrder returns the members by priority, and inside a priority as they are
// tried or, where the method leaves that to chance, by name. It is nil for a
// site without any.
func (s *siteMembers) inOrder(method Method) []*Member {
	switch {
	case s == nil:
		return nil
	case method == Failover || method == CallLoad || method == HashMod:
		return s.ranked // the document's order says who is first
	}
	list := slices.Clone(s.ranked)
	slices.SortFunc(list, func(a, b *Member) int {
		return cmp.Or(a.tier(b), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// listed names some members and counts the others.
func listed(names []string) string {
	switch n := len(names); {
	case n == 0:
		return "no member"
	case n > maxListed:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], " "), n-maxListed)
	}
	return strings.Join(names, " ")
}
