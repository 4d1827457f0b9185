package interconnect

import (
	"sync"
	"sync/atomic"
	"time"
)

// pingSlots is how many pings in flight are remembered: 16 s of them.
const pingSlots = 64

// peer is one other node. Its own goroutine (run) dials it, sends the heartbeats
// and judges it; the readers of both streams report what they hear.
type peer struct {
	i        *Interconnect
	name     string
	launched bool                   // guarded by Interconnect.mu
	out      atomic.Pointer[stream] // the stream that this node dialled; nil when lost
	redial   chan struct{}          // one token: dial now, do not wait for the back-off
	renew    chan struct{}          // one token: make the stream anew

	mu       sync.Mutex
	endpoint Endpoint
	listed   bool
	dropped  bool // see Drop
	boot     uint64
	detector Detector
	arrived  time.Time     // when anything of the peer was last read
	offset   time.Duration // clock offset, smoothed
	offsets  bool          // an offset was measured
	pings    [pingSlots]struct {
		seq  uint64
		at   time.Time
		wall int64
	}
	shown       time.Duration // the RTT that the snapshot holds
	shownOffset time.Duration // and the clock offset
	inbound     *inbound      // the stream that the peer dialled
	secure      bool          // the stream that this node dialled is inside TLS
	refused     string        // why keys or certificates keep the peer away
	since       time.Time     // when refused was set
	beside      beside        // datagrams
}

func newPeer(i *Interconnect, e Endpoint, now time.Time) *peer {
	return &peer{
		i: i, name: e.Name, endpoint: e,
		redial:   make(chan struct{}, 1),
		renew:    make(chan struct{}, 1),
		detector: NewDetector(i.cfg.Heartbeat, i.cfg.Misses, now),
	}
}

// update takes what was learned of the peer's place; a new address is dialled at once.
func (p *peer) update(e Endpoint, listed bool) {
	p.mu.Lock()
	moved := e.Address != "" && e.Address != p.endpoint.Address
	if moved {
		p.endpoint.Address = e.Address
	}
	if e.Site != "" {
		p.endpoint.Site = e.Site
	}
	p.listed = p.listed || listed
	p.dropped = p.dropped && !listed
	up := p.detector.Up()
	p.mu.Unlock()
	if moved && !up {
		p.dialNow()
	}
}

func (p *peer) setListed(listed bool) {
	p.mu.Lock()
	p.listed = listed
	p.mu.Unlock()
}

// forgotten reports whether the peer may be removed at now.
func (p *peer) forgotten(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.listed && !p.detector.Up() && p.inbound == nil && (p.dropped || now.Sub(p.detector.Since()) >= p.i.cfg.Forget)
}

func (p *peer) dialNow() {
	select {
	case p.redial <- struct{}{}:
	default:
	}
}

func (p *peer) describe() Peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown, p.shownOffset = p.detector.RTT(), p.offset
	return Peer{
		Name: p.name, Site: p.endpoint.Site, Address: p.endpoint.Address,
		Up: p.detector.Up(), Since: p.detector.Since(), RTT: p.shown, Heard: p.lastHeard(),
		Boot: p.boot, ClockOffset: p.offset, TLS: p.secure, Refused: p.refused, RefusedAt: p.since,
	}
}

// nextBeat makes the ping with this number and remembers when it left.
func (p *peer) nextBeat(seq uint64, now time.Time) beat {
	p.mu.Lock()
	defer p.mu.Unlock()
	slot := &p.pings[seq%pingSlots]
	slot.seq, slot.at, slot.wall = seq, now, p.i.wall(now)
	return beat{seq: seq, wall: slot.wall, age: p.age(now)}
}

// age is how long the peer was not heard; the caller holds mu.
func (p *peer) age(now time.Time) time.Duration {
	if p.arrived.IsZero() {
		return neverHeard
	}
	return now.Sub(p.arrived)
}

// pinged takes a ping that came on the peer's stream and returns the pong.
func (p *peer) pinged(b beat, now time.Time) beat {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrived = now
	p.detector.Heard(now, b.age)
	return beat{seq: b.seq, wall: p.i.wall(now)}
}

// offsetStep is how far a clock offset moves before the snapshot shows it.
const offsetStep = 100 * time.Millisecond

// ponged takes the answer to a ping. It reports whether the round-trip time or the
// clock offset moved so far that the snapshot should show it.
func (p *peer) ponged(b beat, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrived = now
	slot := &p.pings[b.seq%pingSlots]
	if slot.seq != b.seq || slot.at.IsZero() {
		return false
	}
	rtt := now.Sub(slot.at)
	slot.at = time.Time{}
	p.detector.Answered(now, rtt)
	offset := time.Duration(b.wall-slot.wall) - rtt/2
	if !p.offsets {
		p.offset, p.offsets = offset, true
	}
	p.offset += (offset - p.offset) / 8
	return (p.detector.RTT()-p.shown).Abs() > p.shown/8 || (p.offset-p.shownOffset).Abs() > offsetStep
}
