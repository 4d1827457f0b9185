package metrics

// Losses is what the SIP side of the node dropped or broke off by itself.
type Losses struct {
	// QueueFull are messages and events that found their shard's queue full.
	QueueFull uint64
	// Surge are new INVITEs that readers dropped unread, since the shards could
	// not even refuse them.
	Surge uint64
	// Panics are calls that a fault of ours has ended.
	Panics uint64
}

var (
	descDropped = desc("sip_dropped_total", "Messages that were dropped without an answer for want of time or room.", "reason")
	descPanics  = desc("sip_panics_total", "Calls that an internal fault has ended; each has an error line in the log.")
)

func (p page) losses(l Losses) {
	p.counter(descDropped, l.QueueFull, "queue_full")
	p.counter(descDropped, l.Surge, "surge")
	p.counter(descPanics, l.Panics)
}
