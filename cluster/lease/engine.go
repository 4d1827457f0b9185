package lease

import (
	"maps"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/limit"
)

// Defaults of Config.
const (
	DefaultLease     = 10 * time.Second
	DefaultDeadAfter = 5 * time.Minute
)

const (
	poll       = 20 * time.Millisecond  // between looks at the meters while rights are short
	settle     = 2 * time.Second        // from the first contact until the node knows who there is
	wantFor    = time.Second            // how long a want stands
	siteWant   = 300 * time.Millisecond // how long what another site asked for stands
	siteAnswer = 500 * time.Millisecond // how long another site's answer is waited for
	siteRepeat = 100 * time.Millisecond // between two questions to another site
	idleFor    = 5 * time.Second        // without need, until borrowed rights go home
)

// Config is how an Engine works. It must not change afterwards.
type Config struct {
	Node string
	Site string
	Boot uint64
	// Alone says that no other node is configured: there is none to wait for.
	Alone bool
	// Lease is how long a node may use its share without hearing from its
	// grantor; 0 means 10 s. The grantor counts a tenth more.
	Lease time.Duration
	// DeadAfter is how long a node must be silent to be taken for dead by a
	// node that sees most of the cluster; 0 means 5 min.
	DeadAfter time.Duration
}

// Limit is one limit as the document has it.
type Limit struct {
	Key limit.Key
	// Shares are the rights of the sites; they add up to the limit. Nil means
	// no limit: the use is only counted.
	Shares map[string]int
	// Hold is the longest time that one use may last.
	Hold time.Duration
}

// State is what is known of the life of another node.
type State uint8

// The states of a node. Silent is one that may be dead or cut off; Dead one
// whose process is known to be gone.
const (
	Silent State = iota
	Up
	Dead
)

// Node is another node of the cluster, witnesses included. A node that has been
// removed from the cluster is Dead.
type Node struct {
	Name  string
	Site  string
	Boot  uint64
	State State
	// Witness says that it takes no calls: it holds no rights.
	Witness bool
}

// Message is one frame for another node.
type Message struct {
	To    string
	Frame []byte
}

// Engine shares limits out, as a node that uses them and as a grantor. It is not
// safe for use by several goroutines; the meters in its set are.
type Engine struct {
	cfg     Config
	set     *limit.Set
	start   time.Time
	awake   time.Time // since when it runs without a long pause
	contact time.Time // when another node was first up since then
	now     time.Time // of the step in progress
	nodes   map[string]*node
	entries map[limit.Key]*entry
	order   []*entry // by key, so that all runs alike
	term    uint64
	number  uint64              // of the last frame sent
	out     map[string][][]byte // frames without their headers, the last one to be filled
	next    time.Time
}

type node struct {
	Node
	since time.Time // of the state
	heard uint64    // number of its last frame
}

// entry is one limit.
type entry struct {
	e     *Engine
	limit Limit
	meter *limit.Meter
	hold  holder
	bank  *bank // nil when this node grants nothing of it
	rows  rows
	heard map[string]time.Time // site -> when its grantor last wrote of this limit
	next  time.Time            // when to look at it again
	uses  uses
}

// New returns an engine for the meters of a set, which must be used by no other.
func New(cfg Config, set *limit.Set, now time.Time) *Engine {
	if cfg.Lease == 0 {
		cfg.Lease = DefaultLease
	}
	if cfg.DeadAfter == 0 {
		cfg.DeadAfter = DefaultDeadAfter
	}
	return &Engine{
		cfg: cfg, set: set, start: now, awake: now, now: now,
		nodes: make(map[string]*node), entries: make(map[limit.Key]*entry), out: make(map[string][][]byte),
	}
}

// SetLimits gives the whole list of limits in force. What is in use goes on to
// count, also where a limit is new.
func (e *Engine) SetLimits(now time.Time, list []Limit) {
	e.step(now)
	entries := make(map[limit.Key]*entry, len(list))
	meters := make(map[limit.Key]*limit.Meter, len(list))
	for _, l := range list {
		x := e.entries[l.Key]
		if x == nil {
			x = &entry{e: e, meter: limit.NewMeter(e.start), rows: make(rows), heard: make(map[string]time.Time)}
			x.meter.SetLease(now)
		}
		x.change(l)
		entries[l.Key], meters[l.Key] = x, x.meter
	}
	for k, x := range e.entries { // the limit is gone, its uses are not yet
		if _, used := x.meter.Read(); entries[k] == nil && used > 0 {
			x.change(Limit{Key: k})
			entries[k], meters[k] = x, x.meter
		}
	}
	e.entries = entries
	e.order = slices.SortedFunc(maps.Values(entries), func(a, b *entry) int { return compareKeys(a.limit.Key, b.limit.Key) })
	e.set.Replace(meters)
	e.next = now
}

// change puts another definition of the limit in force.
func (x *entry) change(l Limit) {
	was := x.limited()
	x.limit = l
	switch {
	case !x.limited():
		x.meter.SetShare(limit.Unlimited)
		x.meter.SetLease(time.Time{})
		x.hold.leave()
		x.bank, x.hold = nil, holder{left: x.hold.left}
	case !was:
		x.meter.SetShare(0)
		x.meter.SetLease(x.e.now)
	}
}

func (x *entry) limited() bool { return x.limit.Shares != nil }

// Advance does what is due at now. Call it also at once when a call has begun to
// wait.
func (e *Engine) Advance(now time.Time) {
	e.step(now)
	e.next = time.Time{}
	for _, x := range e.order {
		if !x.limited() {
			continue
		}
		if now.Before(x.next) && x.meter.Missed() == x.hold.missed {
			e.due(x.next)
			continue
		}
		x.next = time.Time{}
		x.report()
		x.grant()
	}
}

// step begins a step. Who was paused for so long that others took it for dead has
// no rights any more.
func (e *Engine) step(now time.Time) {
	asleep := now.Sub(e.now) >= e.cfg.DeadAfter
	e.now = now
	if !asleep {
		return
	}
	e.awake, e.contact = now, time.Time{}
	for _, x := range e.order {
		if x.limited() {
			x.bank = nil
			x.hold.leave()
			x.hold = holder{left: x.hold.left, missed: x.hold.missed}
			x.meter.SetShare(0)
			x.meter.SetLease(now)
			x.next = now
		}
	}
}

// Deadline returns when Advance is due; the zero time when nothing waits.
func (e *Engine) Deadline() time.Time { return e.next }

// due asks to be stepped at t.
func (e *Engine) due(t time.Time) {
	if e.next.IsZero() || t.Before(e.next) {
		e.next = t
	}
}

// due asks for the limit to be looked at again at t.
func (x *entry) due(t time.Time) {
	if x.next.IsZero() || t.Before(x.next) {
		x.next = t
	}
	x.e.due(t)
}

// Output returns what is to be sent, and forgets it. Frames may be lost,
// repeated and reordered.
func (e *Engine) Output() []Message {
	if len(e.out) == 0 {
		return nil
	}
	list := make([]Message, 0, len(e.out))
	for _, to := range slices.Sorted(maps.Keys(e.out)) {
		for _, records := range e.out[to] {
			e.number++
			list = append(list, Message{to, append(e.header(), records...)})
		}
	}
	clear(e.out)
	return list
}

// refresh is the pause between two frames of which nothing depends.
func (e *Engine) refresh() time.Duration { return e.cfg.Lease / 4 }

// granted is for how long a grantor counts a share of a node that is gone: the
// lease and a tenth, for clocks that drift.
func (e *Engine) granted() time.Duration { return e.cfg.Lease * 11 / 10 }
