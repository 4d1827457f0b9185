package prober

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Target is one address of a member.
type Target struct {
	Member *trunkgroup.Member
	Addr   netip.AddrPort
}

// Key names the target between tables and nodes.
func (t Target) Key() verdict.Key { return verdict.KeyOf(t.Member, t.Addr) }

// Pinger sends probes.
type Pinger interface {
	// Ping sends one OPTIONS as a new transaction and waits for its final response, at most until ctx ends. A response is told by the
	// transaction that it belongs to, whatever address it comes from (P-23). retryAfter is zero without that header. An error other than the
	// context's, or of it, means that the far end could not be reached: refused, unreachable, TLS failure.
	Ping(ctx context.Context, t Target) (code int, rtt, retryAfter time.Duration, err error)
}

// Update tells what became of a target: a copy of its state machine after a probe, evidence, a pause that ended, or an operator's word.
type Update struct {
	Target    Target
	Health    trunkgroup.Health // a copy; ask it anything
	Out       time.Time         // since when the target gets no calls; zero while it gets them
	Silent    time.Time         // since when every probe went without any reply; zero while there are replies
	Probed    bool              // a probe result came
	Changed   bool              // the state is another than in the last update
	Discarded bool              // the clock jumped: nothing is known any more
	At        time.Time
}

// Config says how to probe. The zero value of each field but Pinger and OnUpdate means its default.
type Config struct {
	Pinger Pinger
	// OnUpdate gets every update, from one goroutine, in order. It must not block, and may call the prober.
	OnUpdate func(Update)
	// Parallel bounds the probes in flight. Default 512.
	Parallel int
	// Spread is the time over which first probes are drawn, at most the target's interval. Default 2 s; negative for none.
	Spread time.Duration
	// Random draws first probe times. Default: a generator of its own.
	Random *rand.Rand
	// Now is the clock. Default time.Now. Tests make it jump.
	Now    func() time.Time
	Logger *slog.Logger
}

func (c *Config) setDefaults() error {
	if c.Pinger == nil || c.OnUpdate == nil {
		return errors.New("prober: no pinger or nobody to tell")
	}
	if c.Parallel <= 0 {
		c.Parallel = 512
	}
	if c.Spread == 0 {
		c.Spread = 2 * time.Second
	}
	if c.Random == nil {
		c.Random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
