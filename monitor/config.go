package monitor

import (
	"errors"
	"log/slog"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/monitor/prober"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Keys under which this package publishes begin with one of these.
const (
	VerdictPrefix = "verdict/"
	KnobPrefix    = "knob/"
)

// Config says who watches and how it reaches the rest of the node. The functions are called from several goroutines and must not block.
type Config struct {
	Node string // this node's name
	Site string // its site
	Boot uint64 // its boot number (DEC-13)

	// Pinger sends OPTIONS.
	Pinger prober.Pinger
	// Publish spreads a payload to all nodes under a key; a later one under the same key replaces it. It may be lost or repeated.
	Publish func(key string, payload []byte)
	// Forward hands evidence of calls to another node, which gives it to its Monitor's Frame. False means not sent.
	Forward func(node string, payload []byte) bool
	// OnBoard gets each board whose View differs from the one before, in order. It is called with the monitor locked and must not call it.
	OnBoard func(*verdict.Board)
	// OnProbe gets each probe result of this node's own, for metrics. Optional.
	OnProbe func(prober.Update)
	// OnIsolated is told when this node believes to have lost the network, and when no longer (DEC-12). Optional; must not call the monitor.
	OnIsolated func(bool)
	// Resolve gives the present addresses of a member by name, in the order to try them. Optional.
	Resolve func(*trunkgroup.Member) []netip.AddrPort

	// Carriers gives the addresses that calls on our registrations come from; every View gets them. Optional.
	Carriers func(*trunkgroup.Table) [][]netip.AddrPort
	// Lapsed says why our registration at a member has failed, and since when; empty when it has not. Optional.
	Lapsed func(*trunkgroup.Member) (reason string, since time.Time)
	// Bars gives the members that get no calls for what their calls came to (D10). Optional.
	Bars verdict.Bars
	// BarredCarriers says of carriers of route plans why they get no calls, see
	// trunkgroup.View. Optional.
	BarredCarriers func(now time.Time) map[string]string
	// OnUp is told that an operator wants a member ("group/member") to get calls again. Optional; must not call the monitor.
	OnUp func(member string)
	// Registry knows the far ends of members that register; every View gets it. Optional.
	Registry trunkgroup.Registry
	// Sessions counts the calls of far ends; every View gets it. Optional.
	Sessions trunkgroup.SessionCounter

	// KnobFile keeps the operators' words over a restart. Empty: they are not kept here, and come back from the other nodes.
	KnobFile string
	// OnKnobsKept is told when the words cannot be written to KnobFile, and with nil when they are there again. Optional.
	OnKnobsKept func(error)
	// OnKnob gets the words that came from other nodes, and with what became of them those that ended here. It is called with the monitor
	// locked and must not call it. Optional.
	OnKnob func(k verdict.Knob, what string)
	// KnobLife is how long such a word holds. Default 24 h (DEC-25).
	KnobLife time.Duration
	// PanicShare is DEC-12's panic_share. Default 0.9.
	PanicShare float64
	// Parallel and Spread are the prober's.
	Parallel int
	Spread   time.Duration

	Logger *slog.Logger
}

func (c *Config) setDefaults() error {
	if c.Node == "" || c.Site == "" {
		return errors.New("monitor: the node has no name or no site")
	}
	if c.Publish == nil {
		c.Publish = func(string, []byte) {}
	}
	if c.Forward == nil {
		c.Forward = func(string, []byte) bool { return false }
	}
	if c.OnBoard == nil {
		c.OnBoard = func(*verdict.Board) {}
	}
	if c.OnProbe == nil {
		c.OnProbe = func(prober.Update) {}
	}
	if c.OnIsolated == nil {
		c.OnIsolated = func(bool) {}
	}
	if c.Resolve == nil {
		c.Resolve = func(*trunkgroup.Member) []netip.AddrPort { return nil }
	}
	if c.OnKnob == nil {
		c.OnKnob = func(verdict.Knob, string) {}
	}
	if c.KnobLife <= 0 {
		c.KnobLife = verdict.KnobLife
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
