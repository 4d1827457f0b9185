package metrics

// Soft is what this node holds of soft state and what it did with it.
type Soft struct {
	Entries    map[string]int // by kind
	Tombstones int
	Bytes      int
	Missing    int               // processes of other nodes of which more is being fetched
	Lost       map[string]uint64 // entries that are not held, by reason
	Frames     map[string]uint64 // frames of other nodes that were of no use, by reason
	Resyncs    uint64
	Closed     uint64 // records closed for nodes that are gone (DEC-24)
	Unknown    uint64 // answered calls that no other node was told of
}

var (
	descSoftEntries    = desc("soft_entries", "Entries of soft state that this node holds, those of other nodes included.", "kind")
	descSoftTombstones = desc("soft_tombstones", "Removed entries that are remembered.")
	descSoftBytes      = desc("soft_bytes", "About the memory that soft state takes.")
	descSoftMissing    = desc("soft_origins_fetching", "Processes of other nodes whose entries are being fetched.")
	descSoftLost       = desc("soft_entries_lost_total", "Entries that this node does not hold: no room, given away by a cache, or of an unknown kind.", "reason")
	descSoftFrames     = desc("soft_frames_dropped_total", "Frames of soft state that were dropped; what was in them is asked for again.", "reason")
	descSoftResyncs    = desc("soft_resyncs_total", "Times that all entries of another node's process were fetched anew.")
	descClosed         = desc("cdr_closed_for_lost_nodes_total", "Call records that this node closed because the call's node was gone.")
	descUntold         = desc("calls_untold_total", "Answered calls that no other node knows of, because soft state had no room.")
)

func (p page) soft(s Soft) {
	for kind, n := range s.Entries {
		p.gauge(descSoftEntries, float64(n), kind)
	}
	p.gauge(descSoftTombstones, float64(s.Tombstones))
	p.gauge(descSoftBytes, float64(s.Bytes))
	p.gauge(descSoftMissing, float64(s.Missing))
	for reason, n := range s.Lost {
		p.counter(descSoftLost, n, reason)
	}
	for reason, n := range s.Frames {
		p.counter(descSoftFrames, n, reason)
	}
	p.counter(descSoftResyncs, s.Resyncs)
	p.counter(descClosed, s.Closed)
	p.counter(descUntold, s.Unknown)
}
