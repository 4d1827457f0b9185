package app

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Members implements admin.Members.
func (d *desk) Members(ctx context.Context) (admin.MemberList, error) {
	m := d.app.watch.monitor
	list := admin.MemberList{Panic: []string{}, Isolated: m.Isolated(), Members: []admin.Member{}}
	board := m.Board()
	if board == nil {
		return list, nil
	}
	for _, site := range board.Table.Sites() {
		if board.View.Panic[site] {
			list.Panic = append(list.Panic, site)
		}
	}
	list.Paused = pauses(board)
	calls := d.memberCalls(ctx)
	for i := range board.Members {
		m := memberOf(&board.Members[i])
		m.MemberFacts = factsOf(&board.Members[i], board.View)
		used := calls[board.Members[i].Member.Key]
		m.Calls, m.ClusterCalls = used.Used, max(used.Used, used.SiteUsed+used.OtherUsed)
		if r := board.Members[i].Member.Registration; r != nil {
			d.registered(&m, r)
		}
		list.Members = append(list.Members, m)
	}
	return list, nil
}

func memberOf(s *verdict.Status) admin.Member {
	m := admin.Member{
		Group: s.Member.Group.Name, ID: s.Member.ID, Site: s.Member.Site, FQDN: s.Member.FQDN,
		Transport: s.Member.Transport.String(), State: s.State.String(), CallsSent: s.State.Selectable(),
		Since: when(s.Since), Reason: s.Reason, Observer: s.Owner, Targets: []admin.Target{},
	}
	if s.Member.Addr.IsValid() {
		m.Address = s.Member.Addr.String()
	}
	if s.Knob.Member != "" {
		k := knobOf(s.Knob)
		m.Knob = &k
	}
	for _, t := range s.Targets {
		m.Targets = append(m.Targets, admin.Target{
			Address: t.Addr.String(), State: t.State.String(), Observer: t.Observer, Suspect: t.Suspect, Since: when(t.Since),
			Reason: t.Reason, LastProbe: when(t.Probed), LastGood: when(t.Good), Result: t.Kind.String(), Code: t.Code,
			RTTMillis: millis(t.RTT), Changes: t.Changes, Flaps: t.Flaps, Latency: latencyOf(&t.Latency),
		})
	}
	return m
}

func knobOf(k verdict.Knob) admin.Knob {
	state := k.State.String()
	if k.State == trunkgroup.AdminUp {
		state = trunkgroup.Active.String() // the word that takes the others back
	}
	return admin.Knob{State: state, Author: k.Author, Reason: k.Reason, Node: k.Node, Set: k.Set, Expires: k.Expires}
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Calls implements admin.Calls.
func (d *desk) Calls(ctx context.Context, limit int) (admin.CallList, error) {
	server := d.app.server
	st := server.Stats()
	list := admin.CallList{Active: st.Calls, Dialogs: st.Dialogs, Transactions: st.Transactions, Calls: []admin.Call{}}
	calls, err := server.Calls(ctx, limit)
	if err != nil {
		return list, err
	}
	for _, c := range calls {
		list.Calls = append(list.Calls, admin.Call{
			ID: c.ID, Direction: c.Direction, Ingress: c.Ingress, Egress: c.Group, Member: c.Member, Site: c.Site,
			State: c.State, Start: c.Start, Answer: when(c.Answer), Attempts: c.Attempts,
		})
	}
	return list, nil
}

// Explain implements admin.Explainer: it asks the functions that calls use.
func (d *desk) Explain(_ context.Context, q admin.Question) (trunkgroup.Explanation, error) {
	var zero trunkgroup.Explanation
	board := d.app.watch.monitor.Board()
	if board == nil {
		return zero, fmt.Errorf("%w: no configuration in force", admin.ErrUnavailable)
	}
	query := trunkgroup.Query{
		Site: cmp.Or(q.Site, d.app.cfg.Site), Realm: cmp.Or(q.Realm, realmOf(board.Table, q.Called), d.app.cfg.SIP.Realm), Username: q.Username, Called: []byte(q.Called),
		NumberPolicy: number.Policy(),
	}
	query.Affinity, query.Sticks = q.Affinity, d.app.sticks
	if sites := board.Table.Sites(); !slices.Contains(sites, query.Site) {
		return zero, fmt.Errorf("%w: the document has no site %q, it has %s", admin.ErrNotFound, query.Site, strings.Join(sites, ", "))
	}
	query.Source.Transport = trunkgroup.UDP
	var err error
	if q.Transport != "" {
		if query.Source.Transport, err = trunkgroup.ParseTransport(q.Transport); err != nil {
			return zero, fmt.Errorf("%w: %w", admin.ErrInvalid, err)
		}
	}
	for _, f := range []struct {
		text string
		to   *netip.AddrPort
	}{{q.Source, &query.Source.Source}, {q.Local, &query.Source.Local}} {
		if f.text == "" {
			continue
		}
		if *f.to, err = netip.ParseAddrPort(f.text); err != nil {
			return zero, fmt.Errorf("%w: %q is not ip:port", admin.ErrInvalid, f.text)
		}
	}
	e := trunkgroup.Explain(board.Table, board.View, query)
	d.annotate(&e, board, query.Site, q.Username != "")
	return e, nil
}

// annotate adds what the table and the view do not hold: which bound of the caller's customer is passed
// (proven: it has shown a digest), why a member is in its state, and which
// peer site has no node that could be asked.
func (d *desk) annotate(e *trunkgroup.Explanation, board *verdict.Board, site string, proven bool) {
	d.bounds(e, board.Table, proven)
	for i := range e.Order {
		line := &e.Order[i]
		m := board.Table.Member(line.Group + "/" + line.Member)
		if m == nil || line.Dialable {
			continue
		}
		if m.Registration != nil {
			if line.Why = d.app.regs.why(m.Registration.AOR, line.Contact, line.Cause); line.Why != "" {
				continue
			}
		}
		s := &board.Members[m.Index]
		line.Why = s.Reason
		if !s.Since.IsZero() {
			line.Why += ", since " + s.Since.UTC().Format(time.RFC3339)
		}
	}
	if len(e.Order) == 0 || site != d.app.cfg.Site {
		return // whom the nodes of another site reach is for them to say
	}
	st := d.app.node.Status()
	witness := map[string]bool{}
	for _, m := range st.Members {
		witness[m.Name] = m.Meta.Witness
	}
	for _, peer := range board.Table.PeerSites(site) {
		up := func(p interconnect.Peer) bool { return p.Site == peer && p.Up && !witness[p.Name] }
		if !slices.ContainsFunc(st.Peers, up) {
			e.Steps = append(e.Steps, trunkgroup.Step{Name: "hand-off", Text: "no node of " + peer + " can be reached: a hand-off would fail"})
		}
	}
}
