package guard

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaissmai/bart"
)

// Ban is an address or a network from which nothing is taken.
type Ban struct {
	Prefix netip.Prefix
	// Auto bans were made by a Judge; they do not hold for trusted addresses.
	Auto bool
	// Level is how often the source was banned before, as far as known.
	Level int
	// Reason says what for, By who said so: a person, or "auto".
	Reason, By string
	// Node is where it was made.
	Node string
	// Since and Until are when it began and when it ends.
	Since, Until time.Time
}

// bans are those in force. Reading takes no lock.
type bans struct {
	mu   sync.Mutex // of writers
	tree atomic.Pointer[bart.Table[*Ban]]
}

func newBans() *bans {
	b := &bans{}
	b.tree.Store(&bart.Table[*Ban]{})
	return b
}

// find returns the narrowest ban that holds for an address, or nil.
func (b *bans) find(a netip.Addr, trusted bool, now time.Time) *Ban {
	t := b.tree.Load()
	if t.Size() == 0 {
		return nil
	}
	a = a.Unmap().WithZone("")
	ban, ok := t.Lookup(a)
	if !ok || ban.holds(trusted, now) {
		return ban
	}
	for _, wider := range t.Supernets(netip.PrefixFrom(a, a.BitLen())) {
		if wider.holds(trusted, now) {
			return wider
		}
	}
	return nil
}

// holds tells whether the ban is in force for a trusted address, or for another one.
func (b *Ban) holds(trusted bool, now time.Time) bool {
	return now.Before(b.Until) && (!trusted || !b.Auto)
}

// add puts a ban in force, in place of an earlier one of the same prefix.
func (b *bans) add(ban *Ban) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tree.Store(b.tree.Load().InsertPersist(ban.Prefix, ban))
}

// remove lifts a ban; false when there is none of this very prefix.
func (b *bans) remove(p netip.Prefix) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tree.Load()
	if _, ok := t.Get(p); !ok {
		return false
	}
	b.tree.Store(t.DeletePersist(p))
	return true
}

// sweep drops those that are over.
func (b *bans) sweep(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tree.Load()
	for p, ban := range t.All() {
		if !now.Before(ban.Until) {
			t = t.DeletePersist(p)
		}
	}
	b.tree.Store(t)
}
