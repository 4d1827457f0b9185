package interconnect

import "sync/atomic"

// Stats are counts since the start, for metrics.
type Stats struct {
	FramesSent     uint64 // frames that were queued for a peer
	FramesReceived uint64 // frames of users that were handed to a handler
	DroppedFull    uint64 // frames that a full queue refused
	DroppedDown    uint64 // frames for a peer that has no stream
	Unknown        uint64 // frames of a kind or version that this build does not know
	Accepted       uint64 // streams that proved themselves
	Refused        uint64 // streams that did not, or that were refused afterwards
	Busy           uint64 // streams closed because too many were in the handshake
	Dials          uint64
	DialFailures   uint64
	Lost           uint64 // peers lost, by silence or reset
	LostBySilence  uint64
	Beside         uint64 // datagrams sent beside the streams
	Strange        uint64 // datagrams received that no peer has signed, or old ones
}

type counters struct {
	sent, received, full, down, unknown, accepted, refused, busy atomic.Uint64
	dials, dialFailures, lost, silence, beside, strange          atomic.Uint64
}

// Stats returns the counts.
func (i *Interconnect) Stats() Stats {
	c := &i.count
	return Stats{
		FramesSent: c.sent.Load(), FramesReceived: c.received.Load(),
		DroppedFull: c.full.Load(), DroppedDown: c.down.Load(), Unknown: c.unknown.Load(),
		Accepted: c.accepted.Load(), Refused: c.refused.Load(), Busy: c.busy.Load(),
		Dials: c.dials.Load(), DialFailures: c.dialFailures.Load(),
		Lost: c.lost.Load(), LostBySilence: c.silence.Load(),
		Beside: c.beside.Load(), Strange: c.strange.Load(),
	}
}
