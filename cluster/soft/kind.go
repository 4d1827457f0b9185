package soft

import "time"

// Kind says what an entry is about; its Rule says how it is treated. Kinds are
// below 64 and are never renumbered: they travel between versions of the program.
type Kind uint8

// The kinds.
const (
	KindCall     Kind = 1 // an answered call, by call id (DEC-24)
	KindBinding  Kind = 2 // a registration
	KindAffinity Kind = 3 // which member a caller was sent to
	KindLCR      Kind = 4 // a cached routing answer
	KindCounter  Kind = 5 // a counter's share of its owner
	KindClosing  Kind = 6 // how often survivors closed a call's record (DEC-24)

	KindBan   Kind = 7 // an address from which nothing is taken
	KindFraud Kind = 8 // what a process counted of a customer's calls
	// KindSessions: how many calls of its owner are at a far end.
	KindSessions Kind = 9
	KindAccount  Kind = 10 // a registration of ours at a carrier, as its node sees it
	KindQuality  Kind = 11 // what became of its owner's calls to a member

	maxKind = 63
)

// String names the kind as metrics do.
func (k Kind) String() string {
	switch k {
	case KindCall:
		return "call"
	case KindBinding:
		return "binding"
	case KindAffinity:
		return "affinity"
	case KindLCR:
		return "lcr"
	case KindCounter:
		return "counter"
	case KindAccount:
		return "account"
	case KindQuality:
		return "quality"
	case KindSessions:
		return "sessions"
	case KindClosing:
		return "closing"
	case KindBan:
		return "ban"
	case KindFraud:
		return "fraud"
	}
	return "unknown"
}

// Rule is how entries of one kind are treated. All nodes must agree on it.
type Rule struct {
	// Keep: entries survive their owner until they expire (DEC-15). They must
	// expire: Put refuses a kept entry without a time to live.
	Keep bool
	// Versioned: one entry per key over all owners; the highest version wins.
	Versioned bool
	// Newest: where the owners of two versions of a key did not know each other's,
	// the one that was written later is to win, and not the one that was written
	// more often (see newer). Only with Versioned.
	Newest bool
	// Evict: a cache, whose oldest entries go when the store is full.
	Evict bool
	// MaxTTL caps the time to live; 0 means a day.
	MaxTTL time.Duration
	// Tombstone is how long a removal is remembered. 0 means MaxTTL for a
	// Versioned kind, whose older versions may turn up for that long, and a
	// minute for the others.
	Tombstone time.Duration
	// Linger is how long entries that are not kept stay after their owner was
	// lost, for those who have a use for them; 0 drops them at once.
	Linger time.Duration
}

const (
	defaultMaxTTL    = 24 * time.Hour
	defaultTombstone = time.Minute
)

func (r Rule) withDefaults() Rule {
	if r.MaxTTL <= 0 {
		r.MaxTTL = defaultMaxTTL
	}
	if r.Tombstone <= 0 {
		r.Tombstone = defaultTombstone
		if r.Versioned {
			r.Tombstone = r.MaxTTL
		}
	}
	return r
}

// DefaultRules are the rules of the kinds above. The map is fresh.
func DefaultRules() map[Kind]Rule {
	return map[Kind]Rule{
		KindCall:     {Linger: time.Hour},
		KindBinding:  {Keep: true, Versioned: true, Newest: true, MaxTTL: 2 * time.Hour},
		KindAffinity: {Keep: true, Versioned: true, Evict: true, MaxTTL: time.Hour},
		KindLCR:      {Keep: true, Versioned: true, Evict: true},
		KindCounter:  {},
		KindAccount:  {},
		KindSessions: {},
		KindQuality:  {},
		KindClosing:  {Keep: true, Versioned: true},
		KindBan:      {Keep: true, Versioned: true, Evict: true},
		KindFraud:    {Keep: true, MaxTTL: 25 * time.Hour},
	}
}
