package closing

import (
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// DefaultAfter is for how long a node must be gone before its calls are closed.
const DefaultAfter = time.Minute

// Node is a living node that takes calls.
type Node struct{ Name, Site string }

// Config says who decides.
type Config struct {
	Node, Site string
	After      time.Duration // 0 means DefaultAfter
}

// Call is the entry of an answered call of a process that is gone.
type Call struct {
	// Value is the entry's, as AppendEntry made it.
	Value []byte
	// Since is when the owner put the entry, by this node's clock.
	Since time.Time
	// Lost is when this node learned that the owner is gone, Heard when it heard of
	// it last.
	Lost, Heard time.Time
}

// Verdict says what is to be done with the entry of a call.
type Verdict uint8

const (
	// Wait: it is too early, or another node's turn.
	Wait Verdict = iota
	// Write: this node writes the record.
	Write
	// Used: the call was closed; its entry is of no more use.
	Used
)

// Closer decides about the calls of nodes that are gone.
type Closer struct{ cfg Config }

// New returns a Closer.
func New(cfg Config) *Closer {
	if cfg.After <= 0 {
		cfg.After = DefaultAfter
	}
	return &Closer{cfg: cfg}
}

// Due is when the calls of a process that was lost at some time may be closed.
func (c *Closer) Due(lost time.Time) time.Time { return lost.Add(c.cfg.After) }

// Closings is how often survivors have closed a call, this record of one of them
// included.
func Closings(r *cdr.Record) int { return (r.Version + 1) / 2 }

// Decide says what to do with a call. closings tells how often survivors have closed
// the call of this Key. live are the living nodes, this one among them. With Write
// comes the record, whose Cluster is left to the caller.
func (c *Closer) Decide(now time.Time, call Call, closings func(key string) int, live []Node) (Verdict, *cdr.Record, error) {
	if now.Before(c.Due(call.Lost)) {
		return Wait, nil, nil
	}
	before, answered, encoded, err := ParseEntry(call.Value)
	if err != nil {
		return Used, nil, err
	}
	r, err := cdr.ParseBinary(encoded)
	if err != nil {
		return Used, nil, err
	}
	key := Key(r.Kind, r.CallID)
	if closings(key) > before {
		return Used, nil, nil
	}
	order := Survivors(live, r.Site, key)
	if len(order) == 0 || order[c.turn(now, call, len(order))] != c.cfg.Node {
		return Wait, nil, nil
	}
	r.Version, r.Final, r.ClosedBy = cdr.SurvivorVersion(before), false, cdr.BySurvivor
	r.Node, r.Site = c.cfg.Node, c.cfg.Site
	r.End = r.Answer.Add(max(answered+call.Heard.Sub(call.Since), 0))
	r.HangupCause, r.HangupQ850, r.HangupParty = cdr.CauseNodeLost, lostQ850, cdr.System
	return Write, r, nil
}

// lostQ850 is "temporary failure".
const lostQ850 = 41

// turn is whose turn it is at now: the first's, and when the record has not come for
// as long again as nodes wait, because that one lacks the entry or its disk fails, the
// next one's.
func (c *Closer) turn(now time.Time, call Call, nodes int) int {
	if nodes == 0 {
		return 0
	}
	return int(now.Sub(c.Due(call.Lost))/c.cfg.After) % nodes
}
