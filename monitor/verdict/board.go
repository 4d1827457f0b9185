package verdict

import (
	"cmp"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Board is what a node believes at one time. It is immutable.
type Board struct {
	Table   *trunkgroup.Table
	View    *trunkgroup.View // for planning calls
	Members []Status         // by Member.Index
	// Drained are the sites that an operator drained, with what he said.
	Drained map[string]Knob
	// Needed are those that take calls nevertheless, since no other site would.
	Needed map[string]Knob
	// Paused are the sites whose probes an operator stopped, with what he said.
	Paused map[string]Knob
	// Until is when time alone may change the board: a record grows too old or an operator's word ends. Zero for never.
	Until time.Time
}

// Status is what a node believes about one member, and why.
type Status struct {
	Member *trunkgroup.Member
	State  trunkgroup.State // as calls see it: the operator's word first
	Since  time.Time        // zero when nobody knows
	Until  time.Time        // when that ends by itself; zero when it does not, or nobody knows
	Reason string
	Knob   Knob // the operator's word about the member or its site; its Member is empty when there is none
	Weight Knob // the operator's word about its weight, the same
	Owner  string
	Ramp   uint8 // percent of its share while it starts slowly; 0 = all of it
	// Spared is why the member would get no calls, were it not the last of its group in its site (D10); zero for most.
	Spared trunkgroup.Bar
	// Targets are the probed addresses; empty for a member that is not monitored.
	Targets []Target
}

// Target is one probed address of a member.
type Target struct {
	Addr     netip.AddrPort
	State    trunkgroup.State
	Observer string // whose record this is; empty for none
	Suspect  bool   // from before this node lost the network (DEC-12)
	Since    time.Time
	Out      time.Time // since when it gets no calls; zero while it gets them
	Reason   string
	Kind     trunkgroup.ProbeKind
	Code     int
	RTT      time.Duration
	Probed   time.Time
	Good     time.Time // the last good probe
	Changes  uint64
	Flaps    int // how often it stopped getting calls within the last hour
	Latency  trunkgroup.RoundTrips
}

// Input is what a board is made from.
type Input struct {
	Now   time.Time
	Table *trunkgroup.Table
	Nodes []Node // the live nodes as this node sees them, itself included
	Store *Store
	Knobs *Knobs
	// Addrs gives the addresses of a member by name, in the order to try them.
	Addrs func(*trunkgroup.Member) []netip.AddrPort
	// Registry knows the far ends of members that register.
	Registry trunkgroup.Registry
	// Sessions counts the calls of far ends.
	Sessions trunkgroup.SessionCounter
	// Carriers gives the addresses that calls on our registrations come from.
	Carriers func(*trunkgroup.Table) [][]netip.AddrPort
	// Lapsed says why our registration at a member has failed, and since when; empty when it has not.
	Lapsed func(*trunkgroup.Member) (reason string, since time.Time)
	// Bars gives the members that get no calls for what their calls came to (D10); nil for none.
	Bars Bars
	// Suspect holds this node's own verdicts from before it lost the network; they stand above all records while it is isolated.
	Suspect map[Key]Held
	// Ramps are the members that start slowly; nil for none.
	Ramps *Ramps
	// PanicShare of a site's members, 0 for the default.
	PanicShare float64
}

// Build makes the board.
func Build(in Input) *Board {
	if in.PanicShare <= 0 {
		in.PanicShare = PanicShare
	}
	b := &Board{
		Table: in.Table, View: trunkgroup.NewView(in.Table), Members: make([]Status, len(in.Table.Members())), Drained: make(map[string]Knob),
		Needed: make(map[string]Knob), Paused: make(map[string]Knob),
	}
	b.View.Registry, b.View.Sessions = in.Registry, in.Sessions
	if in.Carriers != nil {
		b.View.Carriers = in.Carriers(in.Table)
	}
	if in.Knobs != nil {
		b.Until = in.Knobs.Deadline()
	}
	for i, m := range in.Table.Members() {
		b.Members[i] = b.status(&in, m)
	}
	for _, site := range in.Table.Sites() {
		if knob, ok := in.knob(DrainOf(site)); ok {
			b.Drained[site] = knob
		}
		if knob, ok := in.knob(PauseOf(site)); ok {
			b.Paused[site] = knob
		}
		if b.panicking(&in, site) {
			b.View.Panic[site] = true
		}
	}
	b.need(in.Nodes)
	for i := range b.Members {
		s := &b.Members[i]
		b.View.Addrs[i] = s.addrs(b.View.Panic[s.Member.Site], b.View.Addrs[i], &in)
		b.lapse(&in, s)
		b.maintain(in.Now, s)
		s.overrule(&in, b.Drained)
		b.View.States[i] = s.planned(b.View.Panic[s.Member.Site])
		if s.Weight.Member != "" {
			b.View.Weigh(s.Member, s.Weight.Weight)
		}
	}
	b.bar(&in)
	b.measure()
	if in.Ramps != nil {
		in.Ramps.apply(in.Now, b)
	}
	return b
}

// status collects the verdicts on a member.
func (b *Board) status(in *Input, m *trunkgroup.Member) Status {
	s := Status{Member: m, Owner: Owner(in.Nodes, m.Site, m.Key)}
	switch {
	case m.Registration != nil:
		s.State, s.Reason = trunkgroup.Active, "registers"
		return s
	case m.Direction == trunkgroup.DirectionIn:
		s.State, s.Reason = trunkgroup.Active, "only calls in"
		return s
	case !m.Group.Monitoring.Enabled:
		s.State, s.Reason = trunkgroup.Active, "not monitored"
		return s
	}
	addrs := b.View.Addrs[m.Index]
	if m.FQDN != "" {
		addrs = in.resolved(m)
	}
	for _, addr := range addrs {
		t, until := in.target(m, addr, s.Owner)
		b.Until = earlier(b.Until, until)
		s.Targets = append(s.Targets, t)
	}
	s.combine()
	return s
}

// lapse takes a member out that wants a registration which has failed.
func (b *Board) lapse(in *Input, s *Status) {
	m := s.Member
	if in.Lapsed == nil || m.Account == nil || !m.Account.Required {
		return
	}
	reason, since := in.Lapsed(m)
	if reason == "" {
		return
	}
	s.State, s.Reason, s.Since = trunkgroup.Down, "not registered at the carrier: "+reason, since
	if b.View.Lapsed == nil {
		b.View.Lapsed = make([]bool, len(b.Members))
	}
	b.View.Lapsed[m.Index] = true
}

func (in *Input) resolved(m *trunkgroup.Member) []netip.AddrPort {
	if in.Addrs == nil {
		return nil
	}
	return in.Addrs(m)
}

// target reads the verdict on one address.
func (in *Input) target(m *trunkgroup.Member, addr netip.AddrPort, owner string) (t Target, until time.Time) {
	t = Target{Addr: addr, State: trunkgroup.Unknown, Reason: "no verdict"}
	key := KeyOf(m, addr)
	var held *Held
	if h, ok := in.Suspect[key]; ok {
		held, t.Suspect = &h, true
	} else {
		held, until = in.Store.Choose(in.Now, key, owner, &m.Group.Monitoring)
	}
	if held == nil {
		return t, until
	}
	at := held.Received
	t.Observer, t.State, t.Reason, t.Changes = held.Node, held.State, held.Reason, held.Changes
	t.Since = held.Since()
	t.Kind, t.Code, t.RTT = held.Kind, held.Code, held.RTT
	t.Flaps, t.Latency = held.Flaps, held.Latency
	if held.OutAge > 0 {
		t.Out = at.Add(-held.OutAge)
	}
	if held.Kind != 0 {
		t.Probed = at.Add(-held.ProbeAge)
	}
	if held.GoodAge > 0 {
		t.Good = at.Add(-held.GoodAge)
	}
	return t, until
}

// rank orders the states of a member's addresses: the member is as good as its best one.
func rank(s trunkgroup.State) int {
	switch s {
	case trunkgroup.Active:
		return 5
	case trunkgroup.Trying:
		return 4
	case trunkgroup.Unknown:
		return 3
	case trunkgroup.Cooldown:
		return 2
	case trunkgroup.Probation:
		return 1
	}
	return 0
}

// combine gives a member the state of its best address.
func (s *Status) combine() {
	if len(s.Targets) == 0 {
		s.State, s.Reason = trunkgroup.Unknown, "no address"
		return
	}
	best := &s.Targets[0]
	for i := range s.Targets {
		if rank(s.Targets[i].State) > rank(best.State) {
			best = &s.Targets[i]
		}
	}
	s.State, s.Since, s.Reason = best.State, best.Since, best.Reason
}

// out says since when a member is down with all its addresses; ok is false when it is not down. A cooldown is no such thing: the far end
// answers.
func (s *Status) out() (since time.Time, ok bool) {
	if s.State != trunkgroup.Down && s.State != trunkgroup.Probation {
		return time.Time{}, false
	}
	for i := range s.Targets {
		t := &s.Targets[i]
		at := t.Out
		if at.IsZero() {
			at = t.Since
		}
		if at.After(since) {
			since = at
		}
	}
	return since, true
}

// panicking applies the panic rule to one site.
func (b *Board) panicking(in *Input, site string) bool {
	var down []time.Time
	var interval time.Duration
	members := 0
	for i := range b.Members {
		s := &b.Members[i]
		if s.Member.Site != site || s.outOfUse(in) {
			continue
		}
		members++
		if mon := &s.Member.Group.Monitoring; mon.Enabled {
			interval = max(interval, mon.Interval)
		}
		if since, ok := s.out(); ok {
			down = append(down, since)
		}
	}
	return Panicking(down, members, in.PanicShare, interval)
}

// addrs picks where calls go. An address that is out gets none while another one of the same member does: down-marking is per address
// (RFC 3263 section 4.3), never per name.
func (s *Status) addrs(panicking bool, configured []netip.AddrPort, in *Input) []netip.AddrPort {
	m := s.Member
	if m.FQDN == "" {
		return configured
	}
	if !m.Group.Monitoring.Enabled || panicking || !s.State.Selectable() {
		return in.resolved(m)
	}
	list := make([]netip.AddrPort, 0, len(s.Targets))
	for i := range s.Targets {
		if s.Targets[i].State.Selectable() {
			list = append(list, s.Targets[i].Addr)
		}
	}
	return list
}

func (in *Input) knob(member string) (Knob, bool) {
	if in.Knobs == nil {
		return Knob{}, false
	}
	return in.Knobs.Of(in.Now, member)
}

// overrule puts the operator's word above the verdicts: what he said of the member, else what he said of its site.
func (s *Status) overrule(in *Input, drained map[string]Knob) {
	knob, ok := in.knob(s.Member.Key)
	if !ok {
		knob, ok = drained[s.Member.Site]
	}
	if weight, ok := in.knob(WeightOf(s.Member.Key)); ok {
		s.Weight = weight
	}
	if ok && knob.State == trunkgroup.AdminInactive {
		ok = s.inactive(&knob, drained)
	}
	if ok {
		s.Knob, s.Since, s.Until = knob, knob.Set, knob.Expires
		s.Reason = cmp.Or(knob.Reason, "no reason given")
		s.State = trunkgroup.Draining
		if knob.State == trunkgroup.AdminDisabled {
			s.State = trunkgroup.Disabled
		}
	}
	if s.Member.Disabled {
		s.State, s.Since, s.Until, s.Reason = trunkgroup.Disabled, time.Time{}, time.Time{}, "by the document"
	}
}
