package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// chargeDesk is who charges the calls of a world: it writes down what it is told.
type chargeDesk struct {
	ticket   ChargeTicket
	refs     []uint64
	begun    []charging.Call
	answered []charging.Call
	ended    []charging.Call
}

func (w *world) Charge(ref uint64, _ *trunkgroup.Charging, call charging.Call) ChargeTicket {
	d := &w.charges
	d.refs, d.begun = append(d.refs, ref), append(d.begun, call)
	return d.ticket
}

func (w *world) ChargeAnswered(_ uint64, call charging.Call) {
	w.charges.answered = append(w.charges.answered, call)
}

func (w *world) ChargeEnded(_ uint64, call charging.Call) {
	w.charges.ended = append(w.charges.ended, call)
}
