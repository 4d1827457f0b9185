package app

import (
	"net/netip"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// keepAccounts makes the node's registrations at carriers.
func (w *watch) keepAccounts() *accounts {
	a := w.app
	s := newAccounts(a.cfg.Name, a.cfg.Site, w, time.Now(), a.log.With("component", "accounts"))
	a.soft.OnChange(s.changed)
	return s
}

// accountNodes tells the registrations who lives. Nodes that drain hand theirs over
// before they go, as long as there are others.
func (w *watch) accountNodes(list []sbc.Peer, draining bool) {
	self := verdict.Node{Name: w.app.cfg.Name, Site: w.app.cfg.Site}
	all := []verdict.Node{self}
	var serving []verdict.Node
	if !draining {
		serving = append(serving, self)
	}
	for _, p := range list {
		if !p.Up || p.Witness {
			continue
		}
		n := verdict.Node{Name: p.Name, Site: p.Site}
		all = append(all, n)
		if !p.Draining {
			serving = append(serving, n)
		}
	}
	if len(serving) == 0 {
		serving = all
	}
	w.app.accounts.see(serving)
}

// register implements accountWorld.
func (w *watch) register(o b2bua.RegisterOrder) { w.server.SendRegister(o) }

// tell implements accountWorld.
func (w *watch) tell(member string, value []byte) {
	w.app.soft.Do(func(now time.Time, store *soft.Store) {
		if value == nil {
			store.Delete(now, soft.KindAccount, member)
			return
		}
		if err := store.Put(now, soft.KindAccount, member, value, 0); err != nil {
			w.app.log.Warn("the other nodes cannot be told of a registration", "member", member, "error", err)
		}
	})
}

// alarm implements accountWorld.
func (w *watch) alarm(detail string) {
	w.app.alarmIf(alarmAccounts, detail)
}

// registrar implements accountWorld.
func (w *watch) registrar(m *trunkgroup.Member) []netip.AddrPort {
	switch r := m.Account.Registrar; {
	case r.Addr.IsValid():
		return []netip.AddrPort{r.Addr}
	case r.FQDN != "":
		return w.names.Addrs(registrarTarget(m))
	case m.Addr.IsValid():
		return []netip.AddrPort{m.Addr}
	}
	return w.names.Addrs(dnsTarget(m))
}

// carriers are the addresses that calls on registrations come from; nil where nobody
// registers.
func (w *watch) carriers(t *trunkgroup.Table) (list [][]netip.AddrPort) {
	for _, m := range t.Members() {
		if !registers(m) {
			continue
		}
		if list == nil {
			list = make([][]netip.AddrPort, len(t.Members()))
		}
		list[m.Index] = slices.Clone(w.registrar(m))
		if m.FQDN != "" {
			list[m.Index] = append(list[m.Index], w.names.Addrs(dnsTarget(m))...)
		}
	}
	return list
}

// lapsed implements monitor.Config.Lapsed.
func (w *watch) lapsed(m *trunkgroup.Member) (reason string, since time.Time) {
	if w.app.accounts == nil {
		return "", time.Time{}
	}
	return w.app.accounts.lapsed(m.Key)
}

// heard implements accountWorld: members that want a registration may come or go.
func (w *watch) heard() { w.monitor.Resolved() }
