package app

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
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
