package simulation

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/limit"
)

// world is one simulation.
type world struct {
	lab   *Lab
	seed  uint64
	now   time.Duration // true time
	queue queue
	seq   uint64

	nodes  []*node // the witness is the last one
	links  []*link
	agents []*agent
	byAddr map[netip.AddrPort]*agent
	calls  []*call
	log    configLog
	plan   plan

	net   *rand.Rand // the network's chance
	users *rand.Rand // the users'
	fate  *rand.Rand // what breaks

	records []*cdr.Record
	sums    Sums
	lost    map[string]int              // datagrams lost, by Call-ID
	full    map[limit.Key]time.Duration // when a limit was last used up

	hash    xxhash.Digest
	tracing bool
	trace   []string
	faults  []string
}

// Sums are what a run did, to see that the seeds reach what they should.
type Sums struct {
	Events, Calls, Answered, Handoffs, Lost, Crashes, Cuts, Configs, Drains, Closed, Refused, Decisions int
}

func newWorld(l *Lab, seed uint64, tracing bool) *world {
	w := &world{
		lab: l, seed: seed, byAddr: make(map[netip.AddrPort]*agent), lost: make(map[string]int), tracing: tracing,
		full: make(map[limit.Key]time.Duration),
		net:  rand.New(rand.NewPCG(seed, 1)), users: rand.New(rand.NewPCG(seed, 2)), fate: rand.New(rand.NewPCG(seed, 3)),
	}
	w.hash.Reset()
	w.plan = drawPlan(w.fate)
	w.makeAgents()
	w.makeNodes()
	return w
}

// after plans something.
func (w *world) after(d time.Duration, do func()) {
	w.seq++
	w.queue.push(event{at: w.now + d, seq: w.seq, do: do})
}

// play runs until an instant.
func (w *world) play(end time.Duration) {
	for {
		n, at := w.dueNode()
		if len(w.queue) > 0 && (n == nil || w.queue[0].at <= at) {
			if w.queue[0].at > end {
				break
			}
			e := w.queue.pop()
			w.now = e.at
			w.sums.Events++
			e.do()
			continue
		}
		if n == nil || at > end {
			break
		}
		w.now = max(w.now, at)
		w.sums.Events++
		n.advance()
	}
	w.now = end
}

// dueNode is the node whose own deadline comes next.
func (w *world) dueNode() (who *node, at time.Duration) {
	for _, n := range w.nodes {
		if n.next >= 0 && n.runs() && (who == nil || n.next < at) {
			who, at = n, n.next
		}
	}
	return who, at
}

// loss is how many datagrams are lost now: none at the end, when all is well.
func (w *world) loss() float64 {
	if w.now > w.plan.end()-2*converge {
		return 0
	}
	return w.plan.loss
}

// happened adds something to the trace's hash.
func (w *world) happened(kind byte, who int, b []byte) {
	var head [12]byte
	t := uint64(w.now)
	for i := range 8 {
		head[i] = byte(t >> (8 * i))
	}
	head[8], head[9] = kind, byte(who)
	_, _ = w.hash.Write(head[:])
	_, _ = w.hash.Write(b)
}

// say adds a line to the trace.
func (w *world) say(format string, args ...any) {
	if w.tracing {
		w.trace = append(w.trace, w.clockText()+fmt.Sprintf(format, args...))
	}
}

func (w *world) clockText() string { return fmt.Sprintf("%9.3f ", w.now.Seconds()) }

// fault notes that something that must hold does not.
func (w *world) fault(format string, args ...any) {
	if len(w.faults) < 20 {
		w.faults = append(w.faults, w.clockText()+fmt.Sprintf(format, args...))
		w.say("FAULT "+format, args...)
	}
}

func chance(r *rand.Rand, p float64) bool { return p > 0 && r.Float64() < p }

// upTo draws a duration up to a limit.
func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d) + 1)) }

// between draws a duration between two.
func between(r *rand.Rand, a, b time.Duration) time.Duration { return a + upTo(r, b-a) }
