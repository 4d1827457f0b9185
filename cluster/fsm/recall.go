package fsm

import (
	"bytes"
	"errors"
	"slices"
)

// Recall puts a past revision back into the history, as it was: a restored
// cluster remembers what the lost one knew. It never changes what is in force.
type Recall struct {
	Revision
}

// Check implements Command.
func (c *Recall) Check() error {
	switch {
	case c.Version.Cluster == "" || c.Version.Revision == 0 || c.Version.Generation == 0:
		return errors.New("fsm: a past revision without its version")
	case len(c.Document) == 0 || len(c.Document) > MaxDocument:
		return errors.New("fsm: a past revision without its document, or with a huge one")
	case c.State == Staged || !c.State.known():
		return errors.New("fsm: a past revision cannot be a canary")
	}
	return checkTexts(c.Reason, c.Author, c.Version.Cluster, c.Site, c.DecidedBy)
}

// Append implements Command.
func (c *Recall) Append(dst []byte) []byte {
	return c.append(append(dst, CommandVersion, kindRecall))
}

// errRecall refuses a past revision that is not past.
var errRecall = errors.New("fsm: only a revision before the current one can be recalled")

func (c *Recall) apply(s *State) Result {
	if r, done := s.admit(c.Version.Cluster, ""); done {
		return r
	}
	now := s.Version()
	current, ok := s.Current()
	if !ok || !current.Version.Newer(c.Version) || c.State == Staged {
		return Result{Version: now, Err: errRecall}
	}
	at, found := slices.BinarySearchFunc(s.history, c.Version, compare)
	if found {
		return Result{Version: now}
	}
	past := c.Revision
	past.Document = bytes.Clone(past.Document)
	s.history = slices.Insert(s.history, at, past)
	s.trim()
	return Result{Version: now}
}
