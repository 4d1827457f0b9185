package guard

import (
	"net/netip"
	"time"
)

// Sight is how the guard sees a source, for those who ask and send nothing.
type Sight struct {
	// Cause is why its messages are dropped, when Dropped.
	Dropped bool
	Cause   Cause
	// Ban is the one that holds, of CauseBan.
	Ban Ban
	// Kind is whose bucket it has: trusted, known or stranger.
	Kind string
	// Left is how many messages it may send at once now, of Burst; both are 0 where
	// its kind has no bucket.
	Left, Burst int
}

// Look tells what would become of a message from a source to a listener, scanners'
// signatures apart, as Message judges. It takes nothing from any bucket.
func (g *Guard) Look(now time.Time, listener int, a netip.Addr) Sight {
	door := g.listener(listener)
	if !door.ACL.Admits(a) {
		return Sight{Dropped: true, Cause: CauseACL}
	}
	bucket, kind := g.bucketOf(a, now.Sub(g.start))
	s := Sight{Kind: kind}
	if ban, banned := g.Banned(a, now); banned {
		s.Dropped, s.Cause, s.Ban = true, CauseBan, ban
		return s
	}
	if bucket == nil {
		return s
	}
	s.Left, s.Burst = bucket.left(a, door.Stream, now.Sub(g.start))
	if s.Left < 1 {
		s.Dropped, s.Cause = true, CauseBucket
	}
	return s
}

// bucketOf returns the bucket of a source, and which kind of source it is.
func (g *Guard) bucketOf(a netip.Addr, at time.Duration) (b *buckets, kind string) {
	switch {
	case g.Trusted(a):
		return g.trusteds, "trusted"
	case g.live.has(a, at), g.proven.has(a, at):
		return g.knowns, "known"
	}
	return g.strangers, "stranger"
}

// left returns how many tokens a source has, and how many at most.
func (b *buckets) left(a netip.Addr, stream bool, at time.Duration) (tokens, burst int) {
	h := b.hash.hash(a)
	if stream {
		h = mix(h)
	}
	tag, now := h&tagMask, uint64(at>>tickBits)&timeMask
	debt := int64(0)
	if _, word := b.find(b.cells[h&b.mask*ways:][:ways], tag, now); word&tagMask == tag {
		debt = b.debt(word, now)
	}
	return int(max(0, b.depth-debt) / b.interval), int(b.depth / b.interval)
}
