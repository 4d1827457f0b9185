package simulation

import (
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// Origin implements b2bua.Registrar.
func (e *shardEnv) Origin(p *transport.Packet) registrar.Origin {
	return registrar.Origin{Source: p.Source, Local: p.Local, Transport: p.Transport, Flow: uint64(p.Flow)}
}

// Register implements b2bua.Registrar: nobody registers here.
func (e *shardEnv) Register(uint64, *registrar.Request) bool { return false }
