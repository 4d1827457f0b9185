package interconnect

import "time"

// Detector judges whether one peer lives (DEC-21). It is a pure state machine:
// time is an argument, Deadline tells when Expire is to be called next.
//
// Two states. Lost: no stream of ours to the peer stands, or nothing came back
// for too long; left by Connected. Up: left by Expire when the proof that both
// directions work is older than Patience, or that of the streams alone older than
// streamPatience, and by Reset at once.
type Detector struct {
	interval time.Duration
	misses   int
	rtt      RTT

	up    bool
	since time.Time
	// heard is the latest moment at which both directions are known to have worked,
	// for streams or for datagrams; stream is that of the streams alone.
	heard  time.Time
	stream time.Time
	// measured is when a datagram measured the round trip last.
	measured time.Time
	// grace, when set, is a moment before which nobody is judged: this process
	// slept and has not read yet what came meanwhile.
	grace time.Time
}

// NewDetector makes a detector in the state Lost; interval is the time between
// heartbeats, misses the number of them that may fail to come.
func NewDetector(interval time.Duration, misses int, now time.Time) Detector {
	return Detector{interval: interval, misses: misses, since: now}
}

// Connected says that the handshake on a new stream succeeded, which proves both
// directions and measured one round trip.
func (d *Detector) Connected(now time.Time, rtt time.Duration) {
	d.rtt.Sample(rtt)
	d.heard, d.stream, d.grace = now, now, time.Time{}
	d.set(true, now)
}

// Answered takes the round-trip time of a heartbeat that was answered on the
// stream. It is no measure while datagrams give a better one: a lost segment makes
// everything behind it late, which is no property of the link.
func (d *Detector) Answered(now time.Time, rtt time.Duration) {
	if d.measured.IsZero() || now.Sub(d.measured) > d.missed() {
		d.rtt.Sample(rtt)
	}
	d.Heard(now, 0)
}

// Heard takes a sign of life that came at now on a stream from a peer which last
// heard this node age ago: both directions worked then. It never brings a lost peer
// back.
func (d *Detector) Heard(now time.Time, age time.Duration) {
	if at := now.Add(-max(age, 0)); at.After(d.stream) {
		d.stream = at
	}
	d.HeardBeside(now, age)
}

// Measured takes the round-trip time of a datagram that was answered.
func (d *Detector) Measured(now time.Time, rtt time.Duration) {
	d.measured = now
	d.rtt.Sample(rtt)
}

// HeardBeside is Heard for a datagram beside the streams.
func (d *Detector) HeardBeside(now time.Time, age time.Duration) {
	if at := now.Add(-max(age, 0)); at.After(d.heard) {
		d.heard, d.grace = at, time.Time{}
	}
}

// Reset says that this node's stream ended: the peer is lost at once.
func (d *Detector) Reset(now time.Time) { d.set(false, now) }

// Expire judges the silence at now. It returns true when the peer was up and is
// lost from now on.
func (d *Detector) Expire(now time.Time) bool {
	due := d.Deadline()
	if due.IsZero() || now.Before(due) {
		return false
	}
	if d.grace.IsZero() && now.Sub(due) >= d.interval {
		// The caller is late by more than a heartbeat: it was this process that
		// slept. What the peer sent meanwhile waits unread; one interval more.
		d.grace = now.Add(d.interval)
		return false
	}
	d.set(false, now)
	return true
}

// Deadline returns when Expire is to be called; zero when the peer is lost.
func (d *Detector) Deadline() time.Time {
	if !d.up {
		return time.Time{}
	}
	if !d.grace.IsZero() {
		return d.grace
	}
	due := d.heard.Add(d.Patience())
	if streams := d.stream.Add(d.streamPatience()); streams.Before(due) {
		return streams
	}
	return due
}

// Patience returns how old the last proof of life may become: the misses that are
// allowed, or srtt + 4 x rttvar if that is longer. A link whose delay grows without
// end cannot stretch it to more than four times the former.
func (d *Detector) Patience() time.Duration {
	missed := d.missed()
	return max(missed, min(d.rtt.Bound(), 4*missed))
}

func (d *Detector) missed() time.Duration { return time.Duration(d.misses) * d.interval }

// streamPatience bounds how long datagrams alone keep a peer up: frames go by
// stream. It is as long as a segment takes that TCP must send five times over 300 ms,
// since a stream that only waits for a repeat is no loss.
func (d *Detector) streamPatience() time.Duration { return 10 * d.missed() }

// Up reports whether the peer is held to live.
func (d *Detector) Up() bool { return d.up }

// Since returns when Up last changed.
func (d *Detector) Since() time.Time { return d.since }

// RTT returns the smoothed round-trip time, 0 when never measured.
func (d *Detector) RTT() time.Duration { return d.rtt.Smoothed() }

func (d *Detector) set(up bool, now time.Time) {
	if d.up != up {
		d.up, d.since, d.grace = up, now, time.Time{}
	}
}
