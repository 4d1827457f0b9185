package fsm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Bounds of what a state remembers.
const (
	MaxHistory      = 100
	MaxHistoryBytes = 64 << 20
	MaxKeys         = 256
)

// Refusals of a change. They are the same on every node.
var (
	ErrCluster    = errors.New("fsm: the change is for another cluster")
	ErrGeneration = errors.New("fsm: the generation of the change is lower than the current one")
	ErrHalted     = errors.New("fsm: halted by a command that this build does not know")
)

// ConflictError is the refusal of a change whose author saw another revision.
type ConflictError struct {
	Expected uint64
	Have     trunkgroup.Version
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("fsm: revision %d was expected, but the current one is %d", e.Expected, e.Have.Revision)
}

// Result is what a command came to.
type Result struct {
	// Version is the revision made, or the current one; of a change of numbers or of
	// rate decks, the edition in the place of the revision.
	Version trunkgroup.Version
	// Changed is false when the document was the current one already, when the key
	// was seen before, and on an error.
	Changed bool
	Err     error
	// Numbers says what changed in the number table; nil when nothing did.
	Numbers *NumbersDelta
	// Decks says what changed in the rate decks; nil when nothing did.
	Decks *DecksDelta
}

// State is the replicated value. Its methods are not safe for concurrent use; the
// entries that they give out are immutable.
type State struct {
	cluster string
	history []Revision // oldest first; the last may be a canary
	keys    []keyed    // oldest first
	halted  error
	numbers numbers
	decks   decks
}

// keyed is an applied change by its idempotency key.
type keyed struct {
	key     string
	version trunkgroup.Version
}

// New returns the state before the first change: generation 1, revision 0.
func New(cluster string) *State { return &State{cluster: cluster} }

// Version returns the highest version, a canary's included; revision 0 before the
// first change.
func (s *State) Version() trunkgroup.Version {
	if n := len(s.history); n > 0 {
		return s.history[n-1].Version
	}
	return trunkgroup.Version{Cluster: s.cluster, Generation: 1}
}

// Current returns the cluster's revision, which is not a canary; false before the
// first change.
func (s *State) Current() (Entry, bool) {
	for i := len(s.history) - 1; i >= 0; i-- {
		if v := &s.history[i]; v.State != Staged && v.State != Abandoned {
			return v.Entry, true
		}
	}
	return Entry{}, false
}

// Canary returns the revision that one site tries; false when there is none.
func (s *State) Canary() (Revision, bool) {
	if n := len(s.history); n > 0 && s.history[n-1].State == Staged {
		return s.history[n-1], true
	}
	return Revision{}, false
}

// Effective returns the revision that a site runs; false before the first change.
func (s *State) Effective(site string) (e Entry, canary, ok bool) {
	if v, staged := s.Canary(); staged && v.Site == site {
		return v.Entry, true, true
	}
	e, ok = s.Current()
	return e, false, ok
}

// History returns the remembered revisions, oldest first.
func (s *State) History() []Revision { return slices.Clone(s.history) }

// Halted returns why the state takes no more commands; nil when it does.
func (s *State) Halted() error { return s.halted }

// Apply applies one encoded command. It keeps no reference to command.
func (s *State) Apply(command []byte) Result {
	if s.halted != nil {
		return Result{Version: s.Version(), Err: s.halted}
	}
	c, err := Decode(command)
	if err != nil {
		s.halted = fmt.Errorf("%w: %w", ErrHalted, err)
		return Result{Version: s.Version(), Err: s.halted}
	}
	return c.apply(s)
}

// admit answers a command of another cluster, or one that was applied before.
func (s *State) admit(cluster, key string) (Result, bool) {
	if cluster != s.cluster {
		return Result{Version: s.Version(), Err: fmt.Errorf("%w: %q, this is %q", ErrCluster, cluster, s.cluster)}, true
	}
	if v, ok := seen(s.keys, key); ok {
		return Result{Version: v}, true
	}
	return Result{}, false
}

// seen returns what the change with that key came to.
func seen(keys []keyed, key string) (trunkgroup.Version, bool) {
	for _, k := range keys {
		if key != "" && k.key == key {
			return k.version, true
		}
	}
	return trunkgroup.Version{}, false
}

// guard answers a change that comes while a canary runs, or whose author saw
// another revision than the current one.
func (s *State) guard(expect *uint64) (Result, bool) {
	now := s.Version()
	if staged, ok := s.Canary(); ok {
		return Result{Version: now, Err: &CanaryError{Version: staged.Version, Site: staged.Site}}, true
	}
	if expect != nil && *expect != now.Revision {
		return Result{Version: now, Err: &ConflictError{Expected: *expect, Have: now}}, true
	}
	return Result{}, false
}

func (c *Set) apply(s *State) Result {
	if r, done := s.admit(c.Cluster, c.Key); done {
		return r
	}
	next := s.Version()
	if c.Generation <= next.Generation {
		// A raised generation is a restore or a recovery, which no canary holds up.
		if r, done := s.guard(c.Expect); done {
			return r
		}
	} else if c.Expect != nil && *c.Expect != next.Revision {
		return Result{Version: next, Err: &ConflictError{Expected: *c.Expect, Have: next}}
	}
	if c.Generation != 0 {
		if c.Generation < next.Generation {
			return Result{Version: next, Err: fmt.Errorf("%w: %d < %d", ErrGeneration, c.Generation, next.Generation)}
		}
		next.Generation = c.Generation
	}
	if current, ok := s.Current(); ok && next == current.Version && bytes.Equal(current.Document, c.Document) {
		s.remember(c.Key, next)
		return Result{Version: next}
	}
	if _, ok := s.Canary(); ok {
		last := &s.history[len(s.history)-1]
		last.State, last.DecidedBy, last.DecidedFor, last.DecidedAt = Abandoned, c.Author, c.Reason, c.At
	}
	next.Revision++
	s.add(Revision{Entry: c.entry(next)}, c.Key)
	return Result{Version: next, Changed: true}
}

// entry is the revision that a change makes.
func (c *Set) entry(v trunkgroup.Version) Entry {
	return Entry{Version: v, Author: c.Author, Reason: c.Reason, At: c.At, Document: bytes.Clone(c.Document)}
}

// add appends a revision and remembers the key of its change.
func (s *State) add(v Revision, key string) {
	s.history = append(s.history, v)
	s.remember(key, v.Version)
	s.trim()
}

func (s *State) remember(key string, v trunkgroup.Version) { s.keys = remembered(s.keys, key, v) }

// remembered adds a key to those of the last changes.
func remembered(keys []keyed, key string, v trunkgroup.Version) []keyed {
	if key == "" {
		return keys
	}
	keys = append(keys, keyed{key, v})
	if over := len(keys) - MaxKeys; over > 0 {
		keys = slices.Delete(keys, 0, over)
	}
	return keys
}

// trim drops the oldest revisions that are beyond the bounds, never the current one
// nor a canary.
func (s *State) trim() {
	keep := len(s.history) - 1
	for keep > 0 && (s.history[keep].State == Staged || s.history[keep].State == Abandoned) {
		keep--
	}
	drop := max(len(s.history)-MaxHistory, 0)
	size := 0
	for i := len(s.history) - 1; i >= drop; i-- {
		if size += len(s.history[i].Document); size > MaxHistoryBytes && i < keep {
			drop = i + 1
			break
		}
	}
	s.history = slices.Delete(s.history, 0, drop)
}

// compare orders revisions by version.
func compare(v Revision, than trunkgroup.Version) int {
	return cmp.Or(cmp.Compare(v.Version.Generation, than.Generation), cmp.Compare(v.Version.Revision, than.Revision))
}

// Clone returns a copy that later commands to s do not change.
func (s *State) Clone() *State {
	return &State{cluster: s.cluster, history: slices.Clone(s.history), keys: slices.Clone(s.keys), halted: s.halted, numbers: s.numbers.clone(), decks: s.decks.clone()}
}

// Of returns a state that knows one revision, which is in force.
func Of(e Entry) *State {
	return &State{cluster: e.Version.Cluster, history: []Revision{{Entry: e}}}
}
