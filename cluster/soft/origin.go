package soft

import (
	"slices"
	"time"
)

// origin is a node's process and this node's copy of its entries.
type origin struct {
	node string
	boot uint64

	entries map[ref]*entry
	log     []slot // by seq; slots of what is gone are skipped
	stale   int    // of log
	sorted  bool   // log is in order
	alive   int    // entries that are no tombstones

	tip   uint64 // every change up to here is known
	floor uint64 // the highest change whose tombstone is forgotten

	resync bool   // the whole origin is being fetched anew
	base   uint64 // the source's tip when that began
	prior  uint64 // the own tip when that began
	mark   uint32 // number of the resync
	// partial: entries were dropped that the owner may still have.
	partial bool
	refused time.Time // when an entry last found no room here; zero: all had, or it was asked for again

	live        bool
	lost, heard time.Time // while not live: when it was lost, when it was last heard
	dropped     uint64    // kinds whose Linger has passed, one bit each
	remember    time.Time // until then it is known that its entries were dropped here

	asked   string // the peer that was sent a Want; empty: none
	askedAt time.Time
}

type slot struct {
	seq uint64
	e   *entry
}

func newOrigin(node string, boot uint64) *origin {
	return &origin{node: node, boot: boot, entries: make(map[ref]*entry), sorted: true}
}

// restart begins a resync.
func (o *origin) restart(base uint64) {
	if !o.resync {
		o.prior = o.tip
	}
	o.tip, o.base, o.resync = 0, base, true
}

// giveUp ends the wait for an answer. A resync whose source is gone ends too: what was
// there before it and what came by it stays.
func (o *origin) giveUp() {
	direct := o.asked == o.node && o.live
	o.asked = ""
	if o.resync && !direct {
		o.resync, o.partial, o.tip = false, true, max(o.tip, o.prior)
	}
}

// insert takes an entry whose seq is set.
func (o *origin) insert(e *entry) {
	e.origin = o
	o.entries[e.ref] = e
	if !e.tombstone {
		o.alive++
	}
	if n := len(o.log); n > 0 && o.log[n-1].seq > e.seq {
		o.sorted = false
	}
	o.log = append(o.log, slot{e.seq, e})
}

// take removes an entry. Its slot goes with the next tidy.
func (o *origin) take(e *entry) {
	if o.entries[e.ref] == e {
		delete(o.entries, e.ref)
	}
	if !e.tombstone {
		o.alive--
	}
	o.stale++
	o.tidy()
}

func (o *origin) tidy() {
	if !o.sorted {
		slices.SortFunc(o.log, func(a, b slot) int {
			if a.seq < b.seq {
				return -1
			}
			return 1
		})
		o.sorted = true
	}
	if o.stale < 64 || o.stale < len(o.log)/2 {
		return
	}
	o.log = slices.DeleteFunc(o.log, func(s slot) bool { return s.e.removed })
	o.stale = 0
}

// after returns the part of the log with the changes above seq.
func (o *origin) after(seq uint64) []slot {
	o.tidy()
	i, _ := slices.BinarySearchFunc(o.log, seq+1, func(s slot, seq uint64) int {
		switch {
		case s.seq < seq:
			return -1
		case s.seq > seq:
			return 1
		}
		return 0
	})
	return o.log[i:]
}
