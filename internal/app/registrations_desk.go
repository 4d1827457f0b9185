package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// defaultRegistrations is how many bindings a list shows unless more are asked
// for.
const defaultRegistrations = 1000

// Registrations implements admin.Registrations.
func (d *desk) Registrations(_ context.Context, q admin.RegistrationQuery) (admin.RegistrationList, error) {
	list := d.newRegistrationList()
	aor := q.AOR
	if q.AOR != "" {
		var err error
		if aor, _, _, err = trunkgroup.ParseAOR(q.AOR); err != nil {
			return list, fmt.Errorf("%w: %q %w; write it like sip:pbx@sip.example.com", admin.ErrInvalid, q.AOR, err)
		}
	}
	table := d.table()
	if aor != "" && table.MatchAOR(aor) == nil && len(d.app.regs.index.Records(aor)) == 0 {
		return list, fmt.Errorf("%w: no member of the document registers as %s; tandem member list shows those that do", admin.ErrNotFound, aor)
	}
	if q.Member != "" {
		m := table.Member(q.Member)
		if m == nil || m.Registration == nil {
			return list, fmt.Errorf("%w: the document has no member %q that registers; write it GROUP/ID, as tandem member list does", admin.ErrNotFound, q.Member)
		}
		if aor != "" && aor != m.Registration.AOR {
			return list, nil
		}
		aor = m.Registration.AOR
	}
	index := d.app.regs.index
	var records []*registrar.Record
	if aor != "" {
		records = slices.Clone(index.Records(aor))
	} else {
		index.Each(func(_ string, of []*registrar.Record) bool {
			records = append(records, of...)
			return true
		})
	}
	slices.SortFunc(records, func(a, b *registrar.Record) int {
		return cmp.Or(cmp.Compare(a.AOR, b.AOR), a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	limit := cmp.Or(q.Limit, defaultRegistrations)
	list.Left = max(0, len(records)-limit)
	for _, r := range records[:min(limit, len(records))] {
		list.Registrations = append(list.Registrations, d.registration(table, r))
	}
	list.Refused = d.app.regs.refused.list(time.Now(), table, aor, limit)
	return list, nil
}

func (d *desk) newRegistrationList() admin.RegistrationList {
	_, total := d.app.regs.index.Len()
	return admin.RegistrationList{Node: d.app.cfg.Name, Site: d.app.cfg.Site, Total: total, Registrations: []admin.Registration{}}
}

// table is the one in force; an empty one before the first.
func (d *desk) table() *trunkgroup.Table {
	if board := d.app.watch.monitor.Board(); board != nil {
		return board.Table
	}
	return &trunkgroup.Table{}
}

// registration shows a binding as this node sees it.
func (d *desk) registration(table *trunkgroup.Table, r *registrar.Record) admin.Registration {
	site, cause := d.app.regs.index.Reach(&r.Binding)
	line := admin.Registration{
		AOR: r.AOR, ID: r.ID, Contact: r.Contact, Path: r.Path, Source: r.Addr.String(), Transport: r.Transport.String(),
		Listener: r.Local.String(), Node: r.Node, Site: r.Site, Reach: r.Reach.String(), Reachable: cause == "", CallsOf: site, Cause: cause,
		Since: r.Since, Refreshed: r.Taken, Expires: r.Expires, Q: float64(r.Q) / 1000, Bulk: r.Bulk, User: r.User,
		Instance: r.Instance, Agent: r.Agent,
	}
	if m := table.MatchAOR(r.AOR); m != nil {
		line.Member = m.Key
	}
	if r.Gone() {
		line.CauseSince = when(r.Changed)
	}
	if r.Sessions >= 0 {
		line.Sessions = &r.Sessions
	}
	return line
}

// RemoveRegistration implements admin.Registrations. The answer is what was
// removed.
func (d *desk) RemoveRegistration(_ context.Context, o admin.RegistrationRemoval) (admin.RegistrationList, error) {
	aor, _, _, err := trunkgroup.ParseAOR(o.AOR)
	if err != nil {
		return admin.RegistrationList{}, fmt.Errorf("%w: %q %w; write it like sip:pbx@sip.example.com", admin.ErrInvalid, o.AOR, err)
	}
	regs, table := d.app.regs, d.table()
	list := d.newRegistrationList()
	regs.Update(func(_ time.Time, tx sbc.BindingChanges) {
		for _, r := range regs.index.Records(aor) {
			if o.ID == "" || o.ID == r.ID {
				list.Registrations = append(list.Registrations, d.registration(table, r))
				tx.Remove(r)
			}
		}
	})
	list.Total -= len(list.Registrations)
	if len(list.Registrations) == 0 {
		return list, fmt.Errorf("%w: nothing of %s is registered that fits; tandem registration list shows what is", admin.ErrNotFound, aor)
	}
	return list, nil
}

// registered tells of a member that registers how many bindings it has, and how
// many of them a call could be sent to.
func (d *desk) registered(m *admin.Member, r *trunkgroup.Registration) {
	m.AOR, m.Transport = r.AOR, ""
	index := d.app.regs.index
	for _, b := range index.Bindings(r.AOR) {
		m.Bindings++
		if _, cause := index.Reach(b); cause == "" {
			m.Reachable++
		}
	}
	switch {
	case m.State != trunkgroup.Active.String():
	case m.Bindings == 0:
		m.CallsSent, m.Reason = false, "nobody is registered"
	case m.Reachable == 0:
		m.CallsSent, m.Reason = false, "registered, and not reachable"
	case m.Reachable < m.Bindings:
		m.Reason = fmt.Sprintf("%d of %d that are registered can be reached", m.Reachable, m.Bindings)
	default:
		m.Reason = fmt.Sprintf("%d registered", m.Bindings)
	}
}

// why says more of a registered far end that is not tried for a cause: since when,
// or which site has it. It is empty for a cause that has nothing to do with
// registrations, and when nobody is registered at all.
func (r *registrations) why(aor, contact, cause string) string {
	var parts []string
	for _, rec := range r.index.Records(aor) {
		site, now := r.index.Reach(&rec.Binding)
		switch {
		case cause == trunkgroup.CauseUnregistered && now == "":
			parts = append(parts, "registered in "+site)
		case cause == trunkgroup.CauseUnregistered:
			parts = append(parts, "registered in "+site+", "+now+since(rec))
		case cause == now && contact == rec.Contact && now == trunkgroup.CauseNodeDown:
			return now + ": " + rec.Node
		case cause == now && contact == rec.Contact && now == trunkgroup.CauseFlowGone:
			return now + since(rec)
		case cause == trunkgroup.CauseUserGone && contact == rec.Contact:
			return cause + ": " + rec.User
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "; ")
}

// since says when the connection of a binding ended, where that is known.
func since(rec *registrar.Record) string {
	if !rec.Gone() {
		return ""
	}
	return " since " + rec.Changed.UTC().Format(time.RFC3339)
}

// registrationMetrics reads the counts of a scrape.
func (a *App) registrationMetrics() metrics.Registrations {
	m := metrics.Registrations{Full: a.regs.full.Load(), Unknown: a.regs.unreadable.Load()}
	m.Bindings, m.AORs = a.regs.counts()
	if a.server != nil {
		m.Waiting = a.server.Registering()
	}
	return m
}

// counts counts bindings by how they are reached from here.
func (r *registrations) counts() (counts map[[2]string]int, aors int) {
	counts = make(map[[2]string]int)
	r.index.Each(func(_ string, list []*registrar.Record) bool {
		aors++
		for _, rec := range list {
			_, cause := r.index.Reach(&rec.Binding)
			counts[[2]string{rec.Reach.String(), cmp.Or(cause, "reachable")}]++
		}
		return true
	})
	return counts, aors
}
