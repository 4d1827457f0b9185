package trunkgroup

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Assumption is one thing that is taken to be otherwise than it is, for Explain.
type Assumption struct {
	Member string // group/member; empty for one of a site
	Site   string // that cannot be reached
	Word   string // active, down, draining, disabled; empty for a weight
	Weight int
}

// causeAssumed is the cause of a member that is assumed to be down.
const causeAssumed = "down"

// ParseAssumption reads "group/member=down", with active, down, draining, disabled or
// weight=N, or "site:ashburn=down".
func ParseAssumption(s string) (Assumption, error) {
	subject, word, ok := strings.Cut(s, "=")
	if !ok || subject == "" {
		return Assumption{}, fmt.Errorf("%.128q is not GROUP/MEMBER=STATE or site:SITE=down", s)
	}
	if site, is := strings.CutPrefix(subject, "site:"); is {
		if word != Down.String() {
			return Assumption{}, fmt.Errorf("a site can be assumed to be down, not %.64q", word)
		}
		return Assumption{Site: site}, nil
	}
	if number, is := strings.CutPrefix(word, "weight="); is {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > maxRank {
			return Assumption{}, fmt.Errorf("the weight %.64q is not a number from 1 to %d", number, maxRank)
		}
		return Assumption{Member: subject, Weight: n}, nil
	}
	switch word {
	case Active.String(), Down.String(), Draining.String(), Disabled.String():
		return Assumption{Member: subject, Word: word}, nil
	}
	return Assumption{}, fmt.Errorf("%.64q is none of active, down, draining, disabled and weight=N", word)
}

// String writes what ParseAssumption reads.
func (a Assumption) String() string {
	switch {
	case a.Site != "":
		return "site:" + a.Site + "=down"
	case a.Weight > 0:
		return fmt.Sprintf("%s=weight=%d", a.Member, a.Weight)
	}
	return a.Member + "=" + a.Word
}

// Assume returns the view as it would be, with what is assumed of members. A member
// that the document disables stays so.
func (v *View) Assume(t *Table, all []Assumption) (*View, error) {
	if len(all) == 0 {
		return v, nil
	}
	next := *v
	next.States, next.Panic, next.Weights = slices.Clone(v.States), maps.Clone(v.Panic), slices.Clone(v.Weights)
	next.Lapsed, next.Ramps = slices.Clone(v.Lapsed), slices.Clone(v.Ramps)
	next.Barred = make([]string, len(v.States))
	copy(next.Barred, v.Barred)
	for _, a := range all {
		if a.Site != "" {
			continue // nothing that a view holds
		}
		m := t.Member(a.Member)
		if m == nil {
			return nil, fmt.Errorf("the document has no member %.128q", a.Member)
		}
		next.assume(m, a)
	}
	return &next, nil
}

func (v *View) assume(m *Member, a Assumption) {
	switch a.Word {
	case "":
		v.Weigh(m, a.Weight)
	case Active.String():
		v.States[m.Index], v.Barred[m.Index] = Active, ""
		if v.Lapsed != nil {
			v.Lapsed[m.Index] = false
		}
		if v.Ramps != nil {
			v.Ramps[m.Index] = 0
		}
	case Down.String():
		// Whether it is monitored or in panic: it is assumed to be down.
		v.States[m.Index], v.Barred[m.Index] = Down, causeAssumed
	case Draining.String():
		v.States[m.Index] = Draining
	case Disabled.String():
		v.States[m.Index] = Disabled
	}
}
