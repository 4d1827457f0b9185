package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// desk is where operators ask: it answers the admin API from the parts.
type desk struct {
	app    *App
	server *admin.Server
	orders *orders // nil on a witness
}

func newDesk(a *App, build string) (*desk, error) {
	d := &desk{app: a}
	backend := admin.Backend{Health: d, Nodes: d, Config: d, Drain: d, ConfigLog: d, Canaries: d, Vault: d, Rescue: d, Metrics: a.watch.meter.all.Handler()}
	backend.Keys, backend.Audit, backend.Discovery = d, d, d
	if a.server != nil {
		backend.Members, backend.Calls, backend.Explain, backend.Knobs, backend.Limits, backend.Frauds = d, d, d, d, d, d
		backend.Accounts, backend.MemberEdits, backend.Hashes, backend.Charging = d, d, d, d
		backend.Bans, backend.Tests, backend.Decisions = d, d, d
		backend.Numbers, backend.Traffic, backend.Sinks, backend.Records = d, d, d, d
		backend.Registrations, backend.Decks = d, d
		d.orders = newOrders(a, d.carryOut)
		a.node.OnFrame(orderFrame, orderFrame, d.orders.frame)
	}
	remote, err := a.remoteAdmin()
	if err != nil {
		return nil, err
	}
	server, err := admin.New(admin.Settings{
		Network: a.cfg.Admin.Network, Address: a.cfg.Admin.Address, Token: string(a.cfg.Admin.Token.Bytes()),
		Remote: a.cfg.Admin.Remote.Address, RemoteTLS: remote,
		Probes: a.cfg.Admin.Metrics, Version: build, Backend: backend, Audit: a.audited, Logger: a.log.With("component", "admin"),
	})
	if err != nil {
		return nil, fmt.Errorf("app: %w", err)
	}
	d.server = server
	return d, nil
}

// remoteAdmin is how the node proves itself to clients of admin.remote; nil without that.
func (a *App) remoteAdmin() (*tls.Config, error) {
	if !a.cfg.Admin.Remote.Address.IsValid() {
		return nil, nil
	}
	live, err := newLiveTLS("admin", a.cfg.Admin.Remote.TLS, serverTLS)
	if err != nil {
		return nil, fmt.Errorf("app: admin.remote: %w", err)
	}
	a.keys.watchTLS(live)
	return live.server(), nil
}

func (d *desk) start() { d.server.Start() }

func (d *desk) stop(ctx context.Context) error {
	err := d.server.Stop(ctx)
	if d.orders != nil {
		d.orders.stop()
	}
	return err
}

// Live implements admin.Health: a process that answers is alive.
func (d *desk) Live() []admin.Check { return []admin.Check{{Name: "process", Level: admin.Fine}} }

// Ready implements admin.Health. A node without quorum is degraded and takes
// calls: it has its last known good configuration.
func (d *desk) Ready() []admin.Check {
	a := d.app
	ok, why := a.node.Ready()
	config := admin.Check{Name: "configuration", Level: admin.Fine, Detail: why}
	if !ok && !a.cfg.Witness {
		config.Level = admin.Broken
	}
	st := a.node.Status()
	quorum := admin.Check{Name: "quorum", Level: admin.Fine}
	if !st.Raft.Quorum {
		quorum.Level = admin.Degraded
		quorum.Detail = fmt.Sprintf("no quorum for %s: calls go on, changes must wait", st.StaleFor.Round(time.Second))
	}
	checks := []admin.Check{config, quorum, a.drainer.check()}
	if m := a.watch.monitor; m != nil {
		isolated := admin.Check{Name: "isolation", Level: admin.Fine}
		if since, lost := m.IsolatedSince(); lost {
			isolated.Level = admin.Broken
			isolated.Detail = fmt.Sprintf("members, carriers and nodes went silent at once, by %s: is this node cut off?", since.UTC().Format(time.RFC3339))
		}
		checks = append(checks, isolated)
		records := admin.Check{Name: "call records", Level: admin.Fine}
		if s := a.watch.records.Stats(); s.Failing {
			records.Level = admin.Degraded
			records.Detail = fmt.Sprintf("cannot be written since %s, %d wait", s.Since.UTC().Format(time.RFC3339), s.Backlog)
		}
		checks = append(checks, records)
	}
	if why, needed := d.drained(); why != "" {
		level := admin.Broken
		if needed {
			level = admin.Degraded
		}
		checks = append(checks, admin.Check{Name: "site drain", Level: level, Detail: why})
	}
	if why := d.strayed(); why != "" {
		checks = append(checks, admin.Check{Name: "site", Level: admin.Degraded, Detail: why})
	}
	for _, alarm := range st.Alarms {
		checks = append(checks, admin.Check{Name: alarm.Name, Level: admin.Degraded, Detail: alarmText(alarm)})
	}
	return checks
}

// alarmText is what an alarm says, and since when.
func alarmText(a cluster.Alarm) string {
	return fmt.Sprintf("%s (since %s)", a.Detail, a.Since.UTC().Format(time.RFC3339))
}

// strayed says that the document in force does not know this node's site, or
// nothing.
func (d *desk) strayed() string {
	m := d.app.watch.monitor
	if m == nil {
		return ""
	}
	board := m.Board()
	if board == nil || board.Table == nil || slices.Contains(board.Table.Sites(), d.app.cfg.Site) {
		return ""
	}
	return fmt.Sprintf("the document has no site %q: this node has no members to dial", d.app.cfg.Site)
}

// ready returns why the node is not ready, or nothing.
func (d *desk) ready() string {
	if d == nil {
		return "starting"
	}
	for _, c := range d.Ready() {
		if c.Level == admin.Broken {
			return c.Name + ": " + c.Detail
		}
	}
	return ""
}

// Nodes implements admin.Nodes.
func (d *desk) Nodes(context.Context) (admin.NodeList, error) {
	a := d.app
	st := a.node.Status()
	list := admin.NodeList{
		Cluster: st.Cluster, Leader: st.Raft.Leader, Quorum: st.Raft.Quorum, StaleSeconds: st.StaleFor.Seconds(), Alarms: []string{},
	}
	for _, alarm := range st.Alarms {
		list.Alarms = append(list.Alarms, alarm.Name+": "+alarmText(alarm))
	}
	if why, _ := d.drained(); why != "" {
		list.Alarms = append(list.Alarms, "site drain: "+why)
	}
	if why := d.strayed(); why != "" {
		list.Alarms = append(list.Alarms, "site: "+why)
	}
	roles := map[string]string{}
	for _, s := range st.Raft.Servers {
		switch {
		case s.Leader:
			roles[s.Name] = "leader"
		case s.Voter:
			roles[s.Name] = "voter"
		default:
			roles[s.Name] = "nonvoter"
		}
	}
	role := func(name string) string {
		if r, ok := roles[name]; ok {
			return r
		}
		return "none"
	}
	self := admin.Node{
		Name: st.Node, Site: st.Site, Self: true, Witness: st.Witness, State: st.State, Boot: st.Boot, Up: true,
		Since: &a.started, Raft: role(st.Node), Generation: st.Running.Generation, Revision: st.Running.Revision,
	}
	for _, m := range st.Members {
		if m.Name == st.Node {
			self.Version = m.Meta.Build
		}
	}
	if a.server != nil {
		self.Load = float64(a.watch.load()) / 1000
		self.Calls = a.server.Stats().Calls
	}
	list.Nodes = append(list.Nodes, self)
	return list, d.peers(&list, st, role)
}

// peers appends the other nodes.
func (d *desk) peers(list *admin.NodeList, st cluster.Status, role func(string) string) error {
	for _, p := range st.Peers {
		n := admin.Node{
			Name: p.Name, Site: p.Site, State: "lost", Boot: p.Boot, Up: p.Up,
			RTTMillis: float64(p.RTT.Microseconds()) / 1000, Raft: role(p.Name),
		}
		if since := p.Since; !since.IsZero() {
			n.Since = &since
		}
		for _, m := range st.Members {
			if m.Name == p.Name {
				n.Witness, n.Version = m.Meta.Witness, m.Meta.Build
				n.Generation, n.Revision = m.Meta.Generation, m.Meta.Revision
				n.Load = float64(m.Meta.Load) / 1000
				if p.Up {
					n.State = m.Meta.State
				}
			}
		}
		list.Nodes = append(list.Nodes, n)
	}
	return nil
}

// Document implements admin.Config.
func (d *desk) Document(context.Context) (admin.Document, error) {
	st := d.app.node.Status()
	doc := admin.Document{Cluster: st.Cluster}
	if e, ok := d.app.node.Current(); ok {
		doc = documentReply(st.Cluster, e)
	}
	doc.Source = st.Source
	return doc, nil
}

// Apply implements admin.Config.
func (d *desk) Apply(ctx context.Context, c admin.Change) (admin.Applied, error) {
	a := d.app
	out := admin.Applied{Cluster: a.cfg.Cluster.ID, DryRun: c.DryRun}
	change := cluster.Change{Document: c.Text, Author: c.Author, Reason: c.Reason, ExpectRevision: c.Expect, Key: c.Key}
	var v trunkgroup.Version
	var err error
	before, _ := a.node.Current()
	if c.DryRun {
		if v, err = a.node.Check(change); err == nil && a.cfg.Witness {
			_, err = Compile(c.Text, v) // a witness keeps documents unread
		}
	} else {
		v, err = a.node.Propose(ctx, change)
	}
	out.Generation, out.Revision = v.Generation, v.Revision
	if err == nil && (c.DryRun || v == before.Version) && before.Version.Revision > 0 && bytes.Equal(before.Document, c.Text) {
		out.Unchanged, out.Generation, out.Revision = true, before.Version.Generation, before.Version.Revision
	}
	return out, adminError(err)
}

// adminError says in the API's words why a change was not made.
func adminError(err error) error {
	var conflict *fsm.ConflictError
	var refused *cluster.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &conflict):
		return &admin.ConflictError{Expected: conflict.Expected, Current: conflict.Have.Revision}
	case errors.As(err, &refused):
		return as(admin.ErrRefused, err)
	case errors.Is(err, cluster.ErrNoLeader), errors.Is(err, context.DeadlineExceeded):
		return as(admin.ErrUnavailable, err)
	}
	return err
}
