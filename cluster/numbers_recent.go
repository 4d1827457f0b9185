package cluster

import (
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Bounds of the changes of the number table that a node remembers for imports.
const (
	maxRecent     = 4096
	maxRecentRows = 1 << 17
)

// recentNumbers are the last changes of the number table, oldest first, without a gap. An import
// that began before them looks here for what somebody else changed meanwhile.
type recentNumbers struct {
	list []numbersOffer // rows only
	rows int
}

// add takes a change; one of which the rows are not known ends what can be told.
func (r *recentNumbers) add(o numbersOffer) {
	if o.record.Import != "" {
		*r = recentNumbers{}
		return
	}
	r.list = append(r.list, numbersOffer{before: o.before, version: o.version, rows: o.rows})
	r.rows += len(o.rows)
	drop := 0
	for len(r.list)-drop > maxRecent || r.rows > maxRecentRows && drop < len(r.list) {
		r.rows -= len(r.list[drop].rows)
		drop++
	}
	if drop > 0 {
		r.list = append([]numbersOffer(nil), r.list[drop:]...)
	}
}

// since returns the patterns that were changed after an edition; false when that is not known.
func (r *recentNumbers) since(v, now trunkgroup.Version) (patterns []trunkgroup.Pattern, ok bool) {
	for i := range r.list {
		o := &r.list[i]
		if o.before == v {
			for _, row := range o.rows {
				patterns = append(patterns, row.Pattern)
			}
			v = o.version
		}
	}
	return patterns, v == now
}

// changedSince returns the number table, its version, and the patterns that were changed after an
// edition; false when that is not known.
func (m *machine) changedSince(v trunkgroup.Version) (*trunkgroup.NumberTable, trunkgroup.Version, []trunkgroup.Pattern, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	table, now := m.state.Numbers()
	patterns, ok := m.recent.since(v, now)
	return table, now, patterns, ok
}
