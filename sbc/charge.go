package sbc

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/clerk"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Charging has calls charged; clerk.Clerk does. Its methods do not block.
type Charging interface {
	Begin(rules *trunkgroup.Charging, call charging.Call, tell func(clerk.Notice)) clerk.Ticket
	Connect(key uint64, call charging.Call)
	End(key uint64, call charging.Call)
}

// noCharging charges nothing: no call waits, none is refused.
type noCharging struct{}

func (noCharging) Begin(*trunkgroup.Charging, charging.Call, func(clerk.Notice)) clerk.Ticket {
	return clerk.Ticket{}
}
func (noCharging) Connect(uint64, charging.Call) {}
func (noCharging) End(uint64, charging.Call)     {}

// Charge implements b2bua.Env.
func (sh *shard) Charge(ref uint64, rules *trunkgroup.Charging, call charging.Call) b2bua.ChargeTicket {
	return b2bua.ChargeTicket(sh.server.cfg.Charging.Begin(rules, call, func(n clerk.Notice) {
		sh.push(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.Credit(time.Now(), ref, b2bua.Credit(n)) }})
	}))
}

// ChargeAnswered implements b2bua.Env.
func (sh *shard) ChargeAnswered(key uint64, call charging.Call) {
	sh.server.cfg.Charging.Connect(key, call)
}

// ChargeEnded implements b2bua.Env.
func (sh *shard) ChargeEnded(key uint64, call charging.Call) { sh.server.cfg.Charging.End(key, call) }
