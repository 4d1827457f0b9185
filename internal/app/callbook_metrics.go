package app

import (
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/metrics"
)

// metrics reads the counts of the soft state and of what was closed.
func (b *callBook) metrics() metrics.Soft {
	var st soft.Stats
	b.soft.Do(func(_ time.Time, store *soft.Store) { st = store.Stats() })
	full, refused := b.soft.Dropped()
	m := metrics.Soft{
		Entries: map[string]int{}, Tombstones: st.Tombstones, Bytes: st.Bytes, Missing: st.Missing, Resyncs: st.Resyncs,
		Lost:   map[string]uint64{"own": st.Full, "received": st.Refused, "evicted": st.Evicted, "unknown_kind": st.Unknown},
		Frames: map[string]uint64{"queue_full": full, "unreadable": refused, "gap": st.Gaps},
		Closed: b.closed.Load(), Unknown: b.unknown.Load(),
	}
	_, m.Lost["unshared"] = b.app.sessions.Stats()
	for kind, n := range st.Entries {
		m.Entries[kind.String()] = n
	}
	return m
}
