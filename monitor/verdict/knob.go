package verdict

import (
	"cmp"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// KnobLife is how long an operator's word holds unless it is said again (DEC-25).
const KnobLife = 24 * time.Hour

// Knob is an operator's word about one member, its weight, or a site (DEC-25). AdminUp and AdminTrying, or the weight 0, take an earlier word back
// and are kept as long as that would have been, so that they win against copies of the old one.
type Knob struct {
	Member  string // the subject, see Subject
	State   trunkgroup.AdminState
	Weight  int // of a knob about a weight, else 0
	Author  string
	Reason  string
	Version uint64 // one more than any seen before
	Node    string // where it was said; decides between equal versions
	Set     time.Time
	Expires time.Time
}

// InForce says whether the knob says something at a time, and was not taken back.
func (k *Knob) InForce(now time.Time) bool { return !k.takenBack() && now.Before(k.Expires) }

func (k *Knob) takenBack() bool {
	return (k.State == trunkgroup.AdminUp || k.State == trunkgroup.AdminTrying) && k.Weight == 0
}

// beats says whether k replaces another word about the same member.
func (k *Knob) beats(other *Knob) bool {
	if k.Version != other.Version {
		return k.Version > other.Version
	}
	return k.Node > other.Node
}

// Knobs holds the words about all members. Merge is commutative, associative and idempotent, so every node ends with the same words in
// whatever order they come. It is not safe for concurrent use.
type Knobs struct {
	byMember map[string]Knob
}

// NewKnobs returns an empty set.
func NewKnobs() *Knobs { return &Knobs{byMember: make(map[string]Knob)} }

// Set says something about a member, for a life from now on. It returns the knob to spread.
func (k *Knobs) Set(now time.Time, member string, state trunkgroup.AdminState, author, reason, node string, life time.Duration) Knob {
	return k.put(now, Knob{Member: member, State: state, Author: author, Reason: reason, Node: node}, life)
}

// SetWeight gives a member another weight, for a life from now on; 0 takes that back. It returns the knob to spread.
func (k *Knobs) SetWeight(now time.Time, member string, weight int, author, reason, node string, life time.Duration) Knob {
	return k.put(now, Knob{Member: WeightOf(member), Weight: weight, Author: author, Reason: reason, Node: node}, life)
}

// Renew says again what is in force about a subject; ok is false when nothing is. When it was first said stays.
func (k *Knobs) Renew(now time.Time, subject, node string, life time.Duration) (knob Knob, ok bool) {
	knob, ok = k.byMember[subject]
	if !ok || !knob.InForce(now) {
		return Knob{}, false
	}
	set := knob.Set
	knob.Node = node
	knob = k.put(now, knob, life)
	knob.Set = set
	k.byMember[subject] = knob
	return knob, true
}

func (k *Knobs) put(now time.Time, knob Knob, life time.Duration) Knob {
	// A text that does not fit on the wire must not differ between nodes.
	knob.Author, knob.Reason = knob.Author[:min(len(knob.Author), maxText)], knob.Reason[:min(len(knob.Reason), maxText)]
	knob.Version, knob.Set, knob.Expires = k.byMember[knob.Member].Version+1, now, now.Add(life)
	k.byMember[knob.Member] = knob
	return knob
}

// Merge takes a knob that another node spread. It reports whether it replaced what was known.
func (k *Knobs) Merge(now time.Time, knob Knob) bool {
	old, known := k.byMember[knob.Member]
	if !now.Before(knob.Expires) || known && !knob.beats(&old) {
		return false
	}
	k.byMember[knob.Member] = knob
	return true
}

// Of returns the word about a subject; ok is false when there is none, or when it was taken back.
func (k *Knobs) Of(now time.Time, member string) (knob Knob, ok bool) {
	knob = k.byMember[member]
	return knob, knob.InForce(now)
}

// Expire forgets what is over and returns the subjects whose word ended.
func (k *Knobs) Expire(now time.Time) (ended []string) {
	for member, knob := range k.byMember {
		if now.Before(knob.Expires) {
			continue
		}
		delete(k.byMember, member)
		if !knob.takenBack() {
			ended = append(ended, member)
		}
	}
	slices.Sort(ended)
	return ended
}

// Deadline is when the next word ends; zero for never.
func (k *Knobs) Deadline() (next time.Time) {
	for _, knob := range k.byMember {
		if next.IsZero() || knob.Expires.Before(next) {
			next = knob.Expires
		}
	}
	return next
}

// All returns every word, taken back or not, by member: what is spread and what goes to disk.
func (k *Knobs) All() []Knob {
	list := make([]Knob, 0, len(k.byMember))
	for _, knob := range k.byMember {
		list = append(list, knob)
	}
	slices.SortFunc(list, func(a, b Knob) int { return cmp.Compare(a.Member, b.Member) })
	return list
}
