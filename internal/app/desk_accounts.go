package app

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Accounts implements admin.Accounts: the accounts of the document in force, each with
// what the node that keeps its registration said last.
func (d *desk) Accounts(context.Context) (admin.AccountList, error) {
	out := admin.AccountList{Node: d.app.cfg.Name, Accounts: []admin.Account{}}
	board := d.app.watch.monitor.Board()
	if board == nil {
		return out, nil
	}
	told := make(map[string]soft.Entry)
	d.app.soft.Do(func(_ time.Time, store *soft.Store) {
		store.Each(soft.KindAccount, func(e soft.Entry) bool {
			if was, ok := told[e.Key]; !ok || e.Since.After(was.Since) {
				told[e.Key] = e
			}
			return true
		})
	})
	for _, m := range board.Table.Members() {
		if m.Account != nil {
			e, ok := told[m.Key]
			out.Accounts = append(out.Accounts, accountLine(m, e, ok))
		}
	}
	return out, nil
}

func accountLine(m *trunkgroup.Member, e soft.Entry, known bool) admin.Account {
	a := admin.Account{Member: m.Key, Site: m.Site, AOR: m.Account.AOR, Username: m.Account.Username, Realm: m.Account.Realm}
	told, err := readTold(e.Value)
	switch {
	case !m.Account.Register:
		a.State, a.Reason = "off", "answers challenges, without a registration"
		return a
	case m.Disabled:
		a.State, a.Reason = "off", "the member is disabled"
		return a
	case !known || err != nil:
		a.State, a.Reason = "waiting", "no node has it now: one of the member's site takes it within seconds"
		return a
	}
	at := func(seconds *float64) *time.Time {
		if seconds == nil {
			return nil
		}
		t := e.Since.Add(time.Duration(*seconds * float64(time.Second))).Truncate(time.Millisecond)
		return &t
	}
	a.State, a.Reason, a.Node, a.Registrar, a.Contact, a.Failures = told.State, told.Reason, e.Owner, told.Registrar, told.Contact, told.Failures
	a.Since, a.Until, a.Next = at(told.Since), at(told.Until), at(told.Next)
	return a
}
