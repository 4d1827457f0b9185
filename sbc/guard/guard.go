package guard

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Config is what a Guard is made from. It must not change afterwards.
type Config struct {
	// Listeners are those of the transport, by index.
	Listeners []Listener
	// Allow lists who is trusted beside the far ends of the trunk groups.
	Allow []netip.Prefix
	// Stranger, Known and Trusted are the buckets of each kind of source. Known are the
	// addresses of Registered and Proved.
	Stranger, Known, Trusted Rate
	// Sources is about how many sources of each kind have a bucket at one time; four
	// times as many known addresses are remembered. Default 65,536.
	Sources int
	// Signatures are the words of scanners.
	Signatures []string
	// Key makes places in the tables unforeseeable; 16 random bytes.
	Key [16]byte
	// Start is the time from which the tables count.
	Start time.Time
	// OnOffence takes what a stranger did over a connection. It is called by readers
	// of sockets and must not block. Nil: nobody listens.
	OnOffence func(Offence)
}

// Listener is what the Guard needs to know of a listener.
type Listener struct {
	// Stream listeners accept connections, whose source addresses are proven.
	Stream bool
	// TLS ones must do a handshake for each of them.
	TLS bool
	// ACL says who may come to this listener at all; nil is everybody.
	ACL *trunkgroup.ACL
}

const (
	defaultSources = 1 << 16
	// provenFor is how long a digest user's address has the wide bucket: longer than
	// the pauses between his calls.
	provenFor = time.Hour
	// What a connection costs of a bucket, in messages.
	connectCost, handshakeCost = 2, 10
)

// Guard judges what comes from outside before it is parsed. Its methods may be called
// by many goroutines at once, take no lock and do not allocate.
type Guard struct {
	cfg      Config
	start    time.Time
	allow    *trunkgroup.ACL // nil trusts nobody
	trusted  atomic.Pointer[trunkgroup.Gateways]
	live     *known // registrations
	proven   *known // digest users
	bans     *bans
	scanners *signatures
	counters Counters

	strangers, knowns, trusteds *buckets // nil: no bucket
}

// New makes a guard.
func New(cfg Config) *Guard {
	if cfg.Sources <= 0 {
		cfg.Sources = defaultSources
	}
	if cfg.OnOffence == nil {
		cfg.OnOffence = func(Offence) {}
	}
	cfg.Allow = slices.Clone(cfg.Allow)
	h := hasher{binary.BigEndian.Uint64(cfg.Key[:8]), binary.BigEndian.Uint64(cfg.Key[8:])}
	return &Guard{
		cfg: cfg, start: cfg.Start, allow: trunkgroup.NewACL(cfg.Allow, nil),
		live: newKnown(4*cfg.Sources, h), proven: newKnown(cfg.Sources, h),
		bans: newBans(), scanners: newSignatures(cfg.Signatures),
		strangers: newBuckets(cfg.Stranger, cfg.Sources, h),
		knowns:    newBuckets(cfg.Known, cfg.Sources, h),
		trusteds:  newBuckets(cfg.Trusted, cfg.Sources, h),
	}
}

// Counters returns the live counters.
func (g *Guard) Counters() *Counters { return &g.counters }

// SetTrusted puts the addresses in force from which the trunk groups' far ends send.
func (g *Guard) SetTrusted(x *trunkgroup.Gateways) { g.trusted.Store(x) }

// Trusted tells whether an address is on the allow list or a far end's.
func (g *Guard) Trusted(a netip.Addr) bool { return g.Allowed(a) || g.trusted.Load().Any(a) }

// Allowed tells whether an address is on the allow list, for which no ban holds.
func (g *Guard) Allowed(a netip.Addr) bool { return g.allow != nil && g.allow.Admits(a) }

// Registered remembers until a time that a registration is alive at this address: it
// has the wide bucket, and is not banned.
func (g *Guard) Registered(a netip.Addr, until time.Time) { g.live.note(a, until.Sub(g.start)) }

// Proved remembers for a while that a user proved himself from this address: it has the
// wide bucket, and may be banned all the same.
func (g *Guard) Proved(a netip.Addr, now time.Time) {
	g.proven.note(a, now.Add(provenFor).Sub(g.start))
}

// Connect tells whether a connection from this source may be served. It is asked
// before any handshake.
func (g *Guard) Connect(now time.Time, listener int, source netip.AddrPort) bool {
	cost := int64(connectCost)
	if g.cfg.Listeners[listener].TLS {
		cost = handshakeCost
	}
	cause, ok := g.pass(now, listener, source.Addr(), nil, cost)
	if !ok {
		g.counters.connections[cause].Add(1)
	}
	return ok
}

// Message tells whether a datagram, or a message of a connection, may be parsed. A
// connection whose message may not is to be closed. The listener of one that was dialled
// is negative.
func (g *Guard) Message(now time.Time, listener int, source netip.AddrPort, raw []byte) bool {
	cause, ok := g.pass(now, listener, source.Addr(), raw, 1)
	if ok {
		return true
	}
	g.counters.messages[cause].Add(1)
	if cause == CauseScanner && g.listener(listener).Stream {
		g.offend(now, Offence{Source: source.Addr(), Reason: ReasonScanner, Weight: atOnce})
	}
	return false
}

// listener is one of the transport's. A negative index stands for the connections that
// were dialled: their far ends are proven, and no access list says whom we may call.
func (g *Guard) listener(i int) Listener {
	if i < 0 {
		return Listener{Stream: true}
	}
	return g.cfg.Listeners[i]
}

// offend tells of what a source did, unless it is one that is never banned.
func (g *Guard) offend(now time.Time, o Offence) {
	if !g.Exempt(o.Source, now) {
		g.cfg.OnOffence(o)
	}
}

// atOnce is the weight of what is not done by accident.
const atOnce = 1 << 20

// Malformed takes note of a message that the gate refused. Over UDP anybody may have
// sent it.
func (g *Guard) Malformed(now time.Time, listener int, source netip.AddrPort) {
	if g.listener(listener).Stream {
		g.offend(now, Offence{Source: source.Addr(), Reason: ReasonMalformed, Weight: 1})
	}
}

// Refused takes note of digest credentials that were refused. proven says that nobody
// else can have sent them: they came over a connection, or answered a challenge that
// was sent to this very address.
func (g *Guard) Refused(now time.Time, source netip.Addr, proven bool) {
	if !proven {
		return
	}
	if at := now.Sub(g.start); g.knowns != nil && !g.Trusted(source) && g.live.has(source, at) {
		g.knowns.fine(source, at) // who shares the address with a guesser is slowed down with him
		return
	}
	g.offend(now, Offence{Source: source, Reason: ReasonDigest, Weight: 1})
}

// Known tells whether an address is trusted, a live registration's or that of a user who
// proved himself.
func (g *Guard) Known(now time.Time, a netip.Addr) bool {
	return g.Exempt(a, now) || g.proven.has(a, now.Sub(g.start))
}

// Exempt tells whether an address is never banned for what it does: it is trusted, or
// a live registration's.
func (g *Guard) Exempt(a netip.Addr, now time.Time) bool {
	return g.Trusted(a) || g.live.has(a, now.Sub(g.start))
}

// pass looks at everything in turn and returns what is against it. Signatures are not
// looked for in what trusted sources say.
func (g *Guard) pass(now time.Time, listener int, a netip.Addr, raw []byte, cost int64) (Cause, bool) {
	door := g.listener(listener)
	if !door.ACL.Admits(a) {
		return CauseACL, false
	}
	trusted := g.Trusted(a)
	if g.bans.find(a, trusted, now) != nil && !g.Allowed(a) {
		return CauseBan, false
	}
	at := now.Sub(g.start)
	bucket, stranger := g.strangers, false
	switch {
	case trusted:
		bucket = g.trusteds
	case g.live.has(a, at), g.proven.has(a, at):
		bucket = g.knowns
	default:
		stranger = true
	}
	if bucket != nil && !bucket.take(a, door.Stream, at, cost) {
		return CauseBucket, false
	}
	if !trusted && g.scanners.match(raw, stranger) {
		return CauseScanner, false
	}
	return 0, true
}

// Spared returns what of a network is trusted: on the allow list, or a far end's.
func (g *Guard) Spared(p netip.Prefix) (allowed []netip.Prefix, far []netip.Prefix) {
	for _, a := range g.cfg.Allow {
		if a.Overlaps(p) {
			allowed = append(allowed, a)
		}
	}
	return allowed, g.trusted.Load().Within(p)
}

// Spares tells whether there are addresses in a ban's network for which it does not
// hold: a far end in the /64 of a stranger, say. Whatever knows the network alone, as
// the kernel does, must not enforce such a ban.
func (g *Guard) Spares(b *Ban) bool {
	for _, a := range g.cfg.Allow {
		if a.Overlaps(b.Prefix) {
			return true
		}
	}
	return b.Auto && g.trusted.Load().Overlaps(b.Prefix)
}

// Ban puts a ban in force.
func (g *Guard) Ban(b Ban) { g.bans.add(&b) }

// Lift ends a ban; false when there is none of this very prefix.
func (g *Guard) Lift(p netip.Prefix) bool { return g.bans.remove(p) }

// Banned returns the ban that holds for an address.
func (g *Guard) Banned(a netip.Addr, now time.Time) (Ban, bool) {
	if b := g.bans.find(a, g.Trusted(a), now); b != nil && !g.Allowed(a) {
		return *b, true
	}
	return Ban{}, false
}

// Count is the number of bans that are held, those over and not swept yet included.
func (g *Guard) Count() int { return g.bans.tree.Load().Size() }

// Bans returns the bans that are not over, by prefix.
func (g *Guard) Bans(now time.Time) []Ban {
	list := []Ban{}
	for _, b := range g.bans.tree.Load().AllSorted() {
		if now.Before(b.Until) {
			list = append(list, *b)
		}
	}
	return list
}

// Sweep drops the bans that are over; call it now and then.
func (g *Guard) Sweep(now time.Time) { g.bans.sweep(now) }
