package sbc

import (
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// Limits say what calls may use (DEC-10). Shards call the methods, which must not
// block.
type Limits interface {
	// Admit takes all of the uses, or none. It takes no lock and does not
	// allocate.
	Admit(now time.Time, uses []limit.Use) limit.Verdict
	// Wait waits for a larger share after Admit said Waiting. done is called
	// exactly once, from any goroutine, with whether the uses are taken now; they
	// belong to the other side until then.
	Wait(uses []limit.Use, done func(ok bool))
	// Release gives back what of the uses is taken.
	Release(uses []limit.Use)
}

// noLimits has no limits.
type noLimits struct{}

func (noLimits) Admit(time.Time, []limit.Use) limit.Verdict { return limit.Granted }
func (noLimits) Wait(_ []limit.Use, done func(bool))        { done(false) }
func (noLimits) Release([]limit.Use)                        {}

// Admit implements b2bua.Env.
func (sh *shard) Admit(ref uint64, uses []limit.Use) limit.Verdict {
	limits := sh.server.cfg.CallLimits
	v := limits.Admit(time.Now(), uses)
	if v == limit.Waiting {
		limits.Wait(uses, func(ok bool) {
			told := sh.inbox.event(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.Admitted(time.Now(), ref, ok) }})
			if !told && ok { // the queue is full: the call gives up by itself
				limits.Release(uses)
			}
			sh.notify()
		})
	}
	return v
}

// Release implements b2bua.Env.
func (sh *shard) Release(uses []limit.Use) {
	if len(uses) > 0 {
		sh.server.cfg.CallLimits.Release(uses)
	}
}
