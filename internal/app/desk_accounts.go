package app

import (
	"context"

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
	for _, m := range board.Table.Members() {
		if m.Account != nil {
			w, ok := d.app.accounts.word(m.Key)
			out.Accounts = append(out.Accounts, accountLine(m, &w, ok))
		}
	}
	return out, nil
}

func accountLine(m *trunkgroup.Member, w *accountWord, known bool) admin.Account {
	a := admin.Account{Member: m.Key, Site: m.Site, AOR: m.Account.AOR, Username: m.Account.Username, Realm: m.Account.Realm}
	switch {
	case !m.Account.Register:
		a.State, a.Reason = "off", "answers challenges, without a registration"
		return a
	case m.Disabled:
		a.State, a.Reason = "off", "the member is disabled"
		return a
	case !known:
		a.State, a.Reason = "waiting", "no node has it now: one of the member's site takes it within seconds"
		return a
	}
	a.State, a.Reason, a.Node, a.Registrar, a.Contact, a.Failures = w.State, w.Reason, w.node, w.Registrar, w.Contact, w.Failures
	a.Since, a.Until, a.Next = w.moment(w.Since), w.moment(w.Until), w.moment(w.Next)
	return a
}
