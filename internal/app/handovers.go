package app

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// handoverFresh is how long after a call of a group went to another site the group counts as handed
	// over, whatever is known of its members.
	handoverFresh = time.Minute
	// maxHandovers bounds the pairs of group and site that calls are remembered of.
	maxHandovers = 10_000
)

// wayOut is a group whose calls may go to another site.
type wayOut struct{ group, peer string }

// handovers knows which groups' calls go from this site to another one, since when, and for how long in all.
// Calls leave the time of their going there and look nothing up under a lock.
type handovers struct {
	site  string
	began time.Time
	last  sync.Map // wayOut -> *atomic.Int64, nanoseconds from began to the last call that went: clocks are set
	size  atomic.Int64

	mu     sync.Mutex
	states map[wayOut]*handoverState
	looked time.Time
}

type handoverState struct {
	since time.Time // zero while nothing goes there
	total time.Duration
}

func newHandovers(site string) *handovers {
	return &handovers{site: site, began: time.Now(), states: make(map[wayOut]*handoverState)}
}

// went notes a call that went to another site.
func (h *handovers) went(now time.Time, group, peer string) {
	way := wayOut{group, peer}
	at, ok := h.last.Load(way)
	if !ok {
		if h.size.Add(1) > maxHandovers {
			h.size.Add(-1)
			return
		}
		if at, ok = h.last.LoadOrStore(way, new(atomic.Int64)); ok {
			h.size.Add(-1) // another call was first
		}
	}
	at.(*atomic.Int64).Store(int64(now.Sub(h.began)))
}

// look brings the states up to date. A group without far ends here by the document goes to the other site by the
// operator's will, and is no handover. Nothing goes to a site that is not up: what was last heard of its members
// does not count.
func (h *handovers) look(now time.Time, b *verdict.Board, up func(site string) bool) {
	if b == nil || b.Table == nil {
		return
	}
	active := make(map[wayOut]bool)
	for _, g := range b.Table.Reached() {
		if !g.Serves(h.site) {
			continue
		}
		for _, peer := range b.Table.PeerSites(h.site) {
			if g.Serves(peer) {
				active[wayOut{g.Name, peer}] = up(peer) && !b.View.Takes(g, h.site) && b.View.Takes(g, peer)
			}
		}
	}
	h.last.Range(func(k, v any) bool {
		way := k.(wayOut)
		fresh := now.Sub(h.began)-time.Duration(v.(*atomic.Int64).Load()) < handoverFresh && up(way.peer)
		switch {
		case b.Table.Group(way.group) == nil:
			h.last.Delete(way)
			h.size.Add(-1)
		case leavesAnyway(b.Table, way.group, h.site):
		default:
			active[way] = active[way] || fresh
		}
		return true
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	for way, yes := range active {
		h.set(now, way, yes)
	}
	for way := range h.states {
		if _, known := active[way]; !known {
			delete(h.states, way)
		}
	}
	h.looked = now
}

// leavesAnyway tells whether a group that has numbers has nobody in a site by the document.
func leavesAnyway(t *trunkgroup.Table, group, site string) bool {
	g := t.Group(group)
	return slices.Contains(t.Reached(), g) && !g.Serves(site)
}

// set takes whether calls go a way; the lock is held.
func (h *handovers) set(now time.Time, way wayOut, yes bool) {
	s := h.states[way]
	if s == nil {
		s = &handoverState{}
		h.states[way] = s
	}
	if !s.since.IsZero() {
		s.total += now.Sub(h.looked)
	}
	switch {
	case !yes:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = now
	}
}

// list returns them for the metrics.
func (h *handovers) list() []metrics.Handover {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]metrics.Handover, 0, len(h.states))
	for way, s := range h.states {
		list = append(list, metrics.Handover{Group: way.group, Peer: way.peer, Active: !s.since.IsZero(), Since: s.since, Total: s.total})
	}
	slices.SortFunc(list, func(a, b metrics.Handover) int { return strings.Compare(a.Group+"\x00"+a.Peer, b.Group+"\x00"+b.Peer) })
	return list
}
