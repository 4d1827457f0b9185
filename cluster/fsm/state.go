package fsm

import (
	"bytes"
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
	Version trunkgroup.Version // the revision made, or the current one
	// Changed is false when the document was the current one already, when the key
	// was seen before, and on an error.
	Changed bool
	Err     error
}

// State is the replicated value. Its methods are not safe for concurrent use; the
// entries that they give out are immutable.
type State struct {
	cluster string
	history []Entry // oldest first; the last is the current one
	keys    []keyed // oldest first
	halted  error
}

// keyed is an applied change by its idempotency key.
type keyed struct {
	key     string
	version trunkgroup.Version
}

// New returns the state before the first change: generation 1, revision 0.
func New(cluster string) *State { return &State{cluster: cluster} }

// Version returns the current version; revision 0 before the first change.
func (s *State) Version() trunkgroup.Version {
	if n := len(s.history); n > 0 {
		return s.history[n-1].Version
	}
	return trunkgroup.Version{Cluster: s.cluster, Generation: 1}
}

// Current returns the current revision; false before the first change.
func (s *State) Current() (Entry, bool) {
	if len(s.history) == 0 {
		return Entry{}, false
	}
	return s.history[len(s.history)-1], true
}

// History returns the remembered revisions, oldest first.
func (s *State) History() []Entry { return slices.Clone(s.history) }

// Halted returns why the state takes no more commands; nil when it does.
func (s *State) Halted() error { return s.halted }

// Apply applies one encoded command. It keeps no reference to command.
func (s *State) Apply(command []byte) Result {
	if s.halted != nil {
		return Result{Version: s.Version(), Err: s.halted}
	}
	c, err := DecodeSet(command)
	if err != nil {
		s.halted = fmt.Errorf("%w: %w", ErrHalted, err)
		return Result{Version: s.Version(), Err: s.halted}
	}
	return s.set(c)
}

func (s *State) set(c *Set) Result {
	now := s.Version()
	if c.Cluster != s.cluster {
		return Result{Version: now, Err: fmt.Errorf("%w: %q, this is %q", ErrCluster, c.Cluster, s.cluster)}
	}
	if c.Key != "" {
		for _, k := range s.keys {
			if k.key == c.Key {
				return Result{Version: k.version}
			}
		}
	}
	if c.Expect != nil && *c.Expect != now.Revision {
		return Result{Version: now, Err: &ConflictError{Expected: *c.Expect, Have: now}}
	}
	next := now
	if c.Generation != 0 {
		if c.Generation < now.Generation {
			return Result{Version: now, Err: fmt.Errorf("%w: %d < %d", ErrGeneration, c.Generation, now.Generation)}
		}
		next.Generation = c.Generation
	}
	if current, ok := s.Current(); ok && next == now && bytes.Equal(current.Document, c.Document) {
		s.remember(c.Key, now)
		return Result{Version: now}
	}
	next.Revision++
	s.history = append(s.history, Entry{
		Version: next, Author: c.Author, Reason: c.Reason, At: c.At, Document: bytes.Clone(c.Document),
	})
	s.remember(c.Key, next)
	s.trim()
	return Result{Version: next, Changed: true}
}

func (s *State) remember(key string, v trunkgroup.Version) {
	if key == "" {
		return
	}
	s.keys = append(s.keys, keyed{key, v})
	if over := len(s.keys) - MaxKeys; over > 0 {
		s.keys = slices.Delete(s.keys, 0, over)
	}
}

// trim drops the oldest revisions that are beyond the bounds, never the current one.
func (s *State) trim() {
	drop := max(len(s.history)-MaxHistory, 0)
	size := 0
	for i := len(s.history) - 1; i >= drop; i-- {
		if size += len(s.history[i].Document); size > MaxHistoryBytes && i < len(s.history)-1 {
			drop = i + 1
			break
		}
	}
	s.history = slices.Delete(s.history, 0, drop)
}

// Clone returns a copy that later commands to s do not change.
func (s *State) Clone() *State {
	return &State{cluster: s.cluster, history: slices.Clone(s.history), keys: slices.Clone(s.keys), halted: s.halted}
}
