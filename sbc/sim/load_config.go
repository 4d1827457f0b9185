package sim

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"
)

// LoadConfig describes a run of the load program. The embedded CallerConfig names
// the SBC's nodes and how a caller goes from one to the next.
type LoadConfig struct {
	CallerConfig

	From []string `json:"from,omitempty"` // callers: numbers and ranges, see ParseNumbers; default +19725550199
	To   []string `json:"to"`             // called: numbers and ranges, drawn at random

	Rate      float64       `json:"rate"`                 // calls per second
	Calls     int           `json:"calls,omitempty"`      // stop after so many; 0 = no such limit
	Duration  time.Duration `json:"duration_ns"`          // stop after so long; 0 = no such limit
	MaxActive int           `json:"max_active,omitempty"` // calls at a time; more are not started and counted as Skipped; 0 = no limit

	Hold    time.Duration `json:"hold_ns"`           // time from answer to BYE
	HoldMax time.Duration `json:"hold_max_ns"`       // when above Hold: drawn evenly between the two
	Cancel  float64       `json:"cancel,omitempty"`  // share of calls (0..1) that are given up by CANCEL at a random moment
	Within  time.Duration `json:"cancel_within_ns"`  // the latest such moment after the INVITE; default 1 s
	NoOffer float64       `json:"no_offer"`          // share of calls (0..1) whose INVITE has no SDP
	Headers []string      `json:"headers,omitempty"` // complete extra header lines of each INVITE
	Then    []Action      `json:"then,omitempty"`    // requests of each caller in the dialog

	// Grace is how long Run waits for calls to end once all were started; default the longest hold plus 40 s.
	Grace time.Duration `json:"grace_ns,omitempty"`
	// Local are our own addresses, at most one per family; port 0 lets the system choose. Default: the address that the
	// system uses towards the node.
	Local        []netip.AddrPort `json:"local,omitempty"`
	TLS          *tls.Config      `json:"-"` // client side of TLS
	Loop         *Loop            `json:"-"` // serves the sockets, of UDP only; nil: sockets of package transport
	KeepAll      bool             `json:"-"` // keep the record of every call, not only of the failed ones
	KeepFailures int              `json:"-"` // failed calls kept by name; default 1000, the number is counted beyond
	Logger       *slog.Logger     `json:"-"` // default: discard
}

func (c LoadConfig) withDefaults() (LoadConfig, error) {
	if len(c.From) == 0 {
		c.From = []string{"+19725550199"}
	}
	if len(c.To) == 0 {
		c.To = []string{"+12145550100"}
	}
	if c.Rate < 0 || c.Cancel < 0 || c.Cancel > 1 || c.NoOffer < 0 || c.NoOffer > 1 {
		return c, fmt.Errorf("rate %v, cancel %v, no_offer %v: want a rate >= 0 and shares between 0 and 1", c.Rate, c.Cancel, c.NoOffer)
	}
	if c.Within <= 0 {
		c.Within = time.Second
	}
	if c.HoldMax < c.Hold {
		c.HoldMax = c.Hold
	}
	if c.Grace <= 0 {
		c.Grace = max(c.HoldMax, 0) + 40*time.Second
	}
	if c.KeepFailures == 0 {
		c.KeepFailures = 1000
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64() >> 1
	}
	return c, nil
}

// placement draws the next call.
func (l *Load) placement(rng *rand.Rand) Placement {
	p := Placement{
		From: l.from.At(rng.Uint64()), To: l.to.At(rng.Uint64()), Hold: l.cfg.Hold,
		Headers: l.cfg.Headers, Then: l.cfg.Then,
	}
	if spread := l.cfg.HoldMax - l.cfg.Hold; spread > 0 {
		p.Hold += time.Duration(rng.Int64N(int64(spread)))
	}
	if l.cfg.Cancel > 0 && rng.Float64() < l.cfg.Cancel {
		p.Cancel = 1 + time.Duration(rng.Int64N(int64(l.cfg.Within)))
	}
	p.NoOffer = l.cfg.NoOffer > 0 && rng.Float64() < l.cfg.NoOffer
	return p
}
