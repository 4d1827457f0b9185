package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/registry"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// asked is a REGISTER that waits for the registrar of the test.
type asked struct {
	ref uint64
	r   *registrar.Request
}

// Origin implements Registrar.
func (w *world) Origin(p *transport.Packet) registrar.Origin {
	return registrar.Origin{
		Source: p.Source, Local: p.Local, Transport: p.Transport, Flow: uint64(p.Flow),
	}
}

// Register implements Registrar: the test decides when it is answered.
func (w *world) Register(ref uint64, r *registrar.Request) bool {
	if w.refuseRegisters {
		return false
	}
	w.asked = append(w.asked, asked{ref, r})
	return true
}

// registrations answers what waits for the registrar by the pure core and an
// index that is the world's View.Registry.
func (w *world) registrations() {
	if w.registry == nil {
		w.registry = registry.New(registrar.Node{Name: w.s.cfg.Node, Site: w.s.cfg.Site, Boot: w.s.cfg.Boot})
		w.view.Registry = w.registry
	}
	for len(w.asked) > 0 {
		a := w.asked[0]
		w.asked = w.asked[1:]
		have := w.registry.Records(a.r.AOR)
		d := registrar.Decide(w.now, w.registry.Self(), a.r, have, func(*registrar.Record) bool { return true })
		out := Registered{Refusal: d.Refusal, Result: d.Result}
		for _, rec := range d.Put {
			w.registry.Set(rec)
		}
		for _, rec := range d.Remove {
			w.registry.Remove(rec.AOR, rec.ID)
		}
		if d.Refusal == nil {
			out.Extra = registrar.Extra(w.now, a.r, w.registry.Records(a.r.AOR))
		}
		w.step(func() { w.s.Registered(w.now, a.ref, out) })
	}
}

// Origin implements Registrar.
func (n *stormNode) Origin(*transport.Packet) registrar.Origin {
	return registrar.Origin{Transport: trunkgroup.UDP}
}

// Register implements Registrar: nobody registers in a storm of calls.
func (n *stormNode) Register(uint64, *registrar.Request) bool { return false }
