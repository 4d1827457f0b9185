package fsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/internal/octets"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Stage makes a document the one of a single site, which tries it before the
// others: "a committed entry 'revision N for site X'" (DEC-25). Its Generation
// must be 0.
type Stage struct {
	Set
	Site string
}

// Check implements Command.
func (c *Stage) Check() error {
	switch {
	case c.Site == "":
		return errors.New("fsm: a canary without a site")
	case c.Generation != 0:
		return errors.New("fsm: a canary cannot raise the generation")
	}
	return errors.Join(c.Set.Check(), checkTexts("", c.Site))
}

// Append implements Command.
func (c *Stage) Append(dst []byte) []byte {
	return c.fields(octets.Append(append(dst, CommandVersion, kindStage), c.Site))
}

// Decide ends a canary: the staged document becomes the cluster's, or its site goes
// back to the cluster's under a new revision.
type Decide struct {
	Cluster string
	Promote bool // false: abandon
	// Revision is the one that was staged; 0 takes whichever is.
	Revision uint64
	Author   string
	Reason   string
	Key      string
	At       time.Time
}

// Check implements Command.
func (c *Decide) Check() error {
	if c.Cluster == "" {
		return errors.New("fsm: a change without a cluster id")
	}
	return checkTexts(c.Reason, c.Author, c.Key, c.Cluster)
}

// Append implements Command.
func (c *Decide) Append(dst []byte) []byte {
	kind := byte(kindAbandon)
	if c.Promote {
		kind = kindPromote
	}
	dst = octets.Append(append(dst, CommandVersion, kind), c.Cluster)
	dst = binary.AppendUvarint(dst, c.Revision)
	for _, s := range []string{c.Author, c.Reason, c.Key} {
		dst = octets.Append(dst, s)
	}
	return binary.AppendUvarint(dst, millis(c.At))
}

func (r *reader) decide(promote bool) *Decide {
	return &Decide{
		Cluster: r.Text(MaxName), Promote: promote, Revision: r.Number(),
		Author: r.Text(MaxName), Reason: r.Text(MaxReason), Key: r.Text(MaxName), At: r.moment(),
	}
}

// Refusals that have to do with a canary.
var (
	// ErrNoCanary refuses to promote or abandon what is not staged.
	ErrNoCanary = errors.New("fsm: no such canary: none is tried, or another revision than the one that was named")
	// ErrNoDocument refuses a canary before the first revision.
	ErrNoDocument = errors.New("fsm: there is no document yet: the first one cannot be a canary")
)

// CanaryError is the refusal of a change while a canary runs.
type CanaryError struct {
	Version trunkgroup.Version
	Site    string
}

// Error implements error.
func (e *CanaryError) Error() string {
	return fmt.Sprintf("fsm: revision %d.%d is a canary in site %s: promote or abandon it first", e.Version.Generation, e.Version.Revision, e.Site)
}

func (c *Stage) apply(s *State) Result {
	if r, done := s.admit(c.Cluster, c.Key); done {
		return r
	}
	if r, done := s.guard(c.Expect); done {
		return r
	}
	current, ok := s.Current()
	switch {
	case !ok:
		return Result{Version: s.Version(), Err: ErrNoDocument}
	case bytes.Equal(current.Document, c.Document):
		s.remember(c.Key, current.Version)
		return Result{Version: current.Version}
	}
	next := current.Version
	next.Revision++
	s.add(Revision{Entry: c.entry(next), State: Staged, Site: c.Site}, c.Key)
	return Result{Version: next, Changed: true}
}

func (c *Decide) apply(s *State) Result {
	if r, done := s.admit(c.Cluster, c.Key); done {
		return r
	}
	staged, ok := s.Canary()
	if !ok || c.Revision != 0 && c.Revision != staged.Version.Revision {
		return Result{Version: s.Version(), Err: ErrNoCanary}
	}
	current, _ := s.Current()
	last := &s.history[len(s.history)-1]
	last.DecidedBy, last.DecidedFor, last.DecidedAt = c.Author, c.Reason, c.At
	if c.Promote {
		last.State = Promoted
		s.remember(c.Key, staged.Version)
		return Result{Version: staged.Version, Changed: true}
	}
	last.State = Abandoned
	// Nodes of the site run the staged revision and go to a higher one only (DEC-14):
	// the old document comes back under a new revision.
	next := staged.Version
	next.Revision++
	s.add(Revision{Entry: Entry{Version: next, Author: c.Author, Reason: c.Reason, At: c.At, Document: current.Document}}, c.Key)
	return Result{Version: next, Changed: true}
}
