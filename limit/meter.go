package limit

import (
	"math"
	"sync/atomic"
	"time"
)

// Unlimited is the share of a meter that only counts.
const Unlimited = math.MaxInt32

// Meter is this node's share of one limit and how much of it is in use. All
// methods may be called by several goroutines. The zero value has no share.
type Meter struct {
	// word is the share in the upper half and the uses in the lower one: a use is
	// taken against the share of the same instant, so that whoever lowers the
	// share learns exactly what was in use when it fell.
	word    atomic.Uint64
	until   atomic.Int64 // end of the lease, nanoseconds after epoch; 0 = none yet
	full    atomic.Int64 // nothing more is to be had before this, as until
	missed  atomic.Uint64
	waiting atomic.Int32
	epoch   time.Time
}

// forever is the end of a lease that does not end.
const forever = math.MaxInt64

// NewMeter returns a meter without a share. epoch is any instant before those
// that its methods are given.
func NewMeter(epoch time.Time) *Meter { return &Meter{epoch: epoch} }

func pack(share, used int) uint64 { return uint64(uint32(share))<<32 | uint64(uint32(used)) }

func unpack(w uint64) (share, used int) { return int(uint32(w >> 32)), int(uint32(w)) }

// Take takes one use. It reports false when the share is used up or its lease
// has ended. It does not block and does not allocate.
func (m *Meter) Take(now time.Time) bool {
	if int64(now.Sub(m.epoch)) >= m.until.Load() {
		return false
	}
	for {
		w := m.word.Load()
		share, used := unpack(w)
		if used >= share {
			return false
		}
		if m.word.CompareAndSwap(w, pack(share, used+1)) {
			return true
		}
	}
}

// Give gives one use back. It reports false when none was taken: that is a
// fault of the caller, and the count stays at zero.
func (m *Meter) Give() bool {
	for {
		w := m.word.Load()
		share, used := unpack(w)
		if used == 0 {
			return false
		}
		if m.word.CompareAndSwap(w, pack(share, used-1)) {
			return true
		}
	}
}

// SetShare sets the share and returns what was in use at that instant. When
// that is more than the share, none is taken until it is less.
func (m *Meter) SetShare(share int) (used int) {
	share = min(max(share, 0), Unlimited)
	for {
		w := m.word.Load()
		_, used = unpack(w)
		if m.word.CompareAndSwap(w, pack(share, used)) {
			return used
		}
	}
}

// SetLease sets when the share ends; the zero time means never.
func (m *Meter) SetLease(end time.Time) { m.until.Store(m.after(end, forever)) }

// SetFull says that the cluster has no more to give: until then a call that
// finds the share used up need not wait. The zero time takes it back.
func (m *Meter) SetFull(end time.Time) { m.full.Store(m.after(end, 0)) }

func (m *Meter) after(t time.Time, zero int64) int64 {
	if t.IsZero() {
		return zero
	}
	return int64(t.Sub(m.epoch))
}

// Full reports whether SetFull holds at now.
func (m *Meter) Full(now time.Time) bool { return int64(now.Sub(m.epoch)) < m.full.Load() }

// Read returns the share and how much of it is in use, of one instant.
func (m *Meter) Read() (share, used int) { return unpack(m.word.Load()) }

// Missed returns how many uses were ever refused or had to wait for want of a
// share: what is not to be had here and now.
func (m *Meter) Missed() uint64 { return m.missed.Load() }

// Waiting returns how many calls wait for a use.
func (m *Meter) Waiting() int { return int(m.waiting.Load()) }
