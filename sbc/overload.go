package sbc

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// lateAfter is how long an INVITE may have waited for its shard. With
	// latePatience it stays below T1, so that a sender that is refused hears
	// of it before it repeats.
	lateAfter = 100 * time.Millisecond
	// latePatience is for how long a shard works on INVITEs that are late
	// before it refuses them: what piled up during a pause of the machine is
	// gone by then, an overload is not.
	latePatience = 200 * time.Millisecond
	// lateLast is how long a REGISTER, or what else begins no call, may have
	// waited. It stays below T1 as well.
	lateLast = 300 * time.Millisecond
	// lateKnown is the same for the refresh of a binding that stands: without it
	// a PBX loses its calls, and a new one only waits for them.
	lateKnown = 2 * time.Second
)

// overload decides what a shard refuses. It reads no clock and no load: a queue
// whose head has waited is the one sign of an overload that is always true,
// whatever it is that takes the time.
//
// The order in which things give way: new registrations and whatever else begins
// no call, as soon as calls are late; new calls, once they are late for good;
// refreshes of bindings that stand; requests inside dialogs and emergency calls
// of identified callers never (DEC-17).
type overload struct {
	// since is since when the shard has met nothing but late INVITEs; zero = it
	// is in time.
	since time.Time
	// seen is when the last late INVITE was.
	seen time.Time
	// known recognises the refresh of a binding that stands; nil recognises none.
	known func(*b2bua.Packet) bool
}

// refuses takes the next event and tells whether to refuse it.
func (o *overload) refuses(now time.Time, e *event) bool {
	if e.urgent {
		return false // how soon it came says nothing of the queue that it passed
	}
	late := now.Sub(e.at)
	switch classOf(e.packet.Message) {
	case classFresh:
		return o.late(now, late) && e.packet.Message.Method() == sip.INVITE
	case classLast:
		if late <= lateLast && !o.behind(now) {
			return false
		}
		return late > lateKnown || o.known == nil || !o.known(&e.packet)
	}
	return false
}

// late notes how late an INVITE is and tells whether lateness is no passing
// thing.
func (o *overload) late(now time.Time, late time.Duration) bool {
	switch {
	case late <= lateAfter:
		o.since, o.seen = time.Time{}, time.Time{}
		return false
	case o.since.IsZero():
		o.since = now
	}
	o.seen = now
	return now.Sub(o.since) > latePatience
}

// behind tells whether calls are late now. Without calls nothing is.
func (o *overload) behind(now time.Time) bool {
	return !o.seen.IsZero() && now.Sub(o.seen) <= latePatience
}

// table is the one in force; nil before the first. Readers ask for it, to find
// the emergency calls of those who are identified by where they come from.
func (s *Server) table() *trunkgroup.Table {
	if r := s.routing.Load(); r != nil {
		return r.table
	}
	return nil
}

// registered recognises the refresh of a binding that stands, by its address of
// record and the address that it comes from. It decides what goes first and
// nothing else: whoever sends it is asked for credentials all the same.
func (s *Server) registered(p *b2bua.Packet) bool {
	r := s.routing.Load()
	if r == nil || r.view == nil || r.view.Registry == nil || p.Message.Method() != sip.REGISTER {
		return false
	}
	to, err := sip.ParseNameAddr(p.Message.Header(sip.To))
	if err != nil {
		return false
	}
	aor, _, _, err := trunkgroup.ParseAOR(string(to.URI))
	if err != nil {
		return false
	}
	for _, b := range r.view.Registry.Bindings(aor) {
		if b.Addr.Addr() == p.Source.Addr() {
			return true
		}
	}
	return false
}
