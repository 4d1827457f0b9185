package hunt

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// DefaultBTimer is how long an attempt may stay without any provisional (DEC-05: never unset).
	DefaultBTimer = 4 * time.Second
	// DefaultProgress is how long an attempt may stay without 101 to 199 when neither its target nor
	// the ring bound says (S-030).
	DefaultProgress = 30 * time.Second
	// HandoffLimit bounds the wait for the peer's first 18x when no max_pdd does: timer C of RFC 3261
	// section 16.6, three minutes.
	HandoffLimit = 3 * time.Minute
)

// Target is one entry of the try-order: a member at one address, or a carrier.
type Target struct {
	// Dialable is false for a target that is known not to be reachable. It is recorded and skipped at
	// once (S-043, S-044).
	Dialable bool
	// Alternate marks a further address of the far end before it. A fork calls it only when the
	// address before has failed, so that one far end does not ring twice.
	Alternate bool
	// RerouteAfterProgress moves on after Progress even from a target that rings (S-067).
	RerouteAfterProgress bool
	// Cause says why it is not dialable: "down", "unresolved", ...
	Cause string
	// BTimer waits for any provisional; 0 means DefaultBTimer.
	BTimer time.Duration
	// Progress waits for 101 to 199; 0 means the sequence's Ring, or DefaultProgress without one.
	Progress time.Duration
	// AdvanceOn are the finals that lead from this target to the next one; nil means those of its group
	// (S-036). The group's NeverAdvance is stronger.
	AdvanceOn *trunkgroup.CauseSet
	// Group is the index in Config.Groups of whose rules it follows. Within is the index of the group
	// in whose place that group stands, whose bounds hold too; the same index for most.
	Group, Within int
	// Tier tells apart, in a group that forks, who is called at once: neighbours of one tier are.
	Tier int
}

// Config is what one sequence needs to know. It must not change after New.
type Config struct {
	// Targets in the order in which they are tried.
	Targets []Target
	// Groups are those of the targets; without any, all targets follow the zero Group.
	Groups []Group
	// Ring bounds the ringing of one attempt, from its dial instant; 0 means no bound (S-062, S-065).
	Ring time.Duration
	// MaxPDD bounds the time from the caller's INVITE to the first 18x or 2xx, over both sites; 0
	// means no bound. At the peer it is the budget of the hand-off.
	MaxPDD time.Duration
	// HandoffReserve is the part of MaxPDD that the local list leaves to the peer while a hand-off is
	// possible; 0, or a value that leaves nothing, means a third of MaxPDD.
	HandoffReserve time.Duration
	// Handoff says that configuration permits a hand-off: there is a peer site with members for this
	// call, and this call was not handed here (DEC-04, DEC-07).
	Handoff bool
	// PeerFirst asks the peer site before any target: what the call belongs to is there. When the peer
	// cannot take the call, the targets are tried in what is left of the time. It needs Handoff.
	PeerFirst bool
	// HandoffOn are the finals after which the call may be handed off; empty means 408 and 503.
	HandoffOn trunkgroup.CauseSet
	// Exhausted replaces the final of a call that failed after both sites were tried (DEC-06); 0
	// keeps what the attempts say.
	Exhausted int
}

// group returns the rules that a target follows.
func (c *Config) group(t *Target) *Group { return &c.Groups[t.Group] }

// withDefaults fills what was left open.
func (c Config) withDefaults() Config {
	if c.HandoffOn.Empty() {
		c.HandoffOn = trunkgroup.Causes(408, 503)
	}
	if c.HandoffReserve <= 0 || c.HandoffReserve >= c.MaxPDD {
		c.HandoffReserve = c.MaxPDD / 3
	}
	if len(c.Groups) == 0 {
		c.Groups = []Group{{}}
	}
	return c
}

// bTimer is how long the target may stay without any provisional.
func (c *Config) bTimer(t *Target) time.Duration {
	if t.BTimer > 0 {
		return t.BTimer
	}
	return DefaultBTimer
}

// progress is how long the target may stay without 101 to 199: "timeout_secs, else call-level timeout,
// else 30 s" (S-030).
func (c *Config) progress(t *Target) time.Duration {
	switch {
	case t.Progress > 0:
		return t.Progress
	case c.Ring > 0:
		return c.Ring
	}
	return DefaultProgress
}
