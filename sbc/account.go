package sbc

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// SendRegister sends one REGISTER to a carrier's registrar. Its Done is called once, by a
// shard and at the latest after timer F; not at all when the shard's queue is full or
// the server stops, so whoever waits must have a patience of his own.
func (s *Server) SendRegister(order b2bua.RegisterOrder) {
	sh := s.shards[b2bua.CallHash(s.seed, []byte(order.CallID))%uint64(len(s.shards))]
	sh.push(event{kind: evAsk, ask: func(core *b2bua.Shard) { core.SendRegister(time.Now(), order) }})
}
