package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/monitor"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Members implements admin.Members.
func (d *desk) Members(context.Context) (admin.MemberList, error) {
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
	for i := range board.Members {
		list.Members = append(list.Members, memberOf(&board.Members[i]))
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
			RTTMillis: float64(t.RTT.Microseconds()) / 1000, Changes: t.Changes,
		})
	}
	return m
}

func knobOf(k verdict.Knob) admin.Knob {
	return admin.Knob{State: k.State.String(), Author: k.Author, Reason: k.Reason, Node: k.Node, Set: k.Set, Expires: k.Expires}
}

func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// SetState implements admin.Members.
func (d *desk) SetState(_ context.Context, group, member string, o admin.Order) (admin.Knob, error) {
	state, ok := trunkgroup.ParseAdminState(o.State)
	if !ok {
		return admin.Knob{}, fmt.Errorf("%w: state %q", admin.ErrInvalid, o.State)
	}
	k, err := d.app.watch.monitor.SetState(group+"/"+member, state, o.Author, o.Reason)
	if errors.Is(err, monitor.ErrNoMember) {
		return admin.Knob{}, fmt.Errorf("%w: %w", admin.ErrNotFound, err)
	}
	return knobOf(k), err
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
		Site: q.Site, Realm: q.Realm, Username: q.Username, Called: []byte(q.Called),
		Normalise: number.Normalise, Code: number.Code,
	}
	if query.Site == "" {
		query.Site = d.app.cfg.Site
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
			return zero, fmt.Errorf("%w: %w", admin.ErrInvalid, err)
		}
	}
	return trunkgroup.Explain(board.Table, board.View, query), nil
}
