package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// carrierWorld is a carrier's registrar and the nodes that register there, in virtual
// time.
type carrierWorld struct {
	t        *testing.T
	now      time.Time
	table    *trunkgroup.Table
	nodes    map[string]*accountNode
	contacts map[string]time.Time // what the registrar holds
	requests int
	silent   bool
}

// accountNode is one node's registrations.
type accountNode struct {
	w       *carrierWorld
	name    string
	s       *accounts
	next    time.Time
	dead    bool
	told    map[string]toldAccount
	alarmed string
}

func accountTable(t *testing.T, change func(*trunkgroup.Document)) *trunkgroup.Table {
	t.Helper()
	doc := &trunkgroup.Document{
		Cluster: "test",
		Sites:   []trunkgroup.SiteSpec{{Name: "dallas", Peers: []string{"ashburn"}}, {Name: "ashburn", Peers: []string{"dallas"}}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "carrier", Role: trunkgroup.PSTNProvider, Members: []trunkgroup.MemberSpec{{
				ID: "dal", Site: "dallas", Address: "192.0.2.10:5060", Account: &trunkgroup.AccountSpec{
					AOR: "sip:100@carrier.example", Realm: "carrier.example", HA1MD5: strings.Repeat("0", 32), Register: true, Expires: trunkgroup.Duration(10 * time.Minute),
				},
			}, {ID: "plain", Site: "dallas", Address: "192.0.2.11:5060"}},
		}},
	}
	if change != nil {
		change(doc)
	}
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func newCarrierWorld(t *testing.T) *carrierWorld {
	w := &carrierWorld{
		t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), table: accountTable(t, nil),
		nodes: make(map[string]*accountNode), contacts: make(map[string]time.Time),
	}
	for _, name := range []string{"dallas-1", "dallas-2", "ashburn-1"} {
		w.boot(name)
	}
	w.meet()
	return w
}

func (w *carrierWorld) boot(name string) {
	n := &accountNode{w: w, name: name, told: make(map[string]toldAccount), next: w.now}
	site, _, _ := strings.Cut(name, "-")
	n.s = newAccounts(name, site, n, w.now, slog.New(slog.DiscardHandler))
	n.s.use(w.table)
	w.nodes[name] = n
}

// meet tells all nodes who lives.
func (w *carrierWorld) meet() {
	var live []verdict.Node
	for _, name := range []string{"dallas-1", "dallas-2", "ashburn-1"} {
		if !w.nodes[name].dead {
			site, _, _ := strings.Cut(name, "-")
			live = append(live, verdict.Node{Name: name, Site: site})
		}
	}
	for _, n := range w.nodes {
		n.s.see(live)
		n.next = w.now
	}
}

// run lets time pass.
func (w *carrierWorld) run(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(100 * time.Millisecond) {
		for _, n := range w.nodes {
			woken := len(n.s.wake) > 0
			if n.dead || !woken && (n.next.IsZero() || w.now.Before(n.next)) {
				continue
			}
			for len(n.s.wake) > 0 {
				<-n.s.wake
			}
			n.next = n.s.step(w.now)
		}
	}
	for contact, until := range w.contacts {
		if !until.After(w.now) {
			delete(w.contacts, contact)
		}
	}
}

// holds demands that the registrar holds the contacts of these nodes and no others.
func (w *carrierWorld) holds(nodes ...string) {
	w.t.Helper()
	want := make(map[string]bool)
	for _, n := range nodes {
		want["sip:token@"+n] = true
	}
	for contact := range w.contacts {
		if !want[contact] {
			w.t.Fatalf("the registrar holds %s, wanted %v: %v", contact, nodes, w.contacts)
		}
		delete(want, contact)
	}
	if len(want) > 0 {
		w.t.Fatalf("the registrar does not hold %v: %v", want, w.contacts)
	}
}

// owner is the node that has the account by its own word.
func (w *carrierWorld) owner() (name string) {
	for _, n := range w.nodes {
		if _, ok := n.told["carrier/dal"]; ok && !n.dead {
			if name != "" {
				w.t.Fatalf("%s and %s have the account", name, n.name)
			}
			name = n.name
		}
	}
	return name
}

func (n *accountNode) registrar(m *trunkgroup.Member) []netip.AddrPort {
	if n.w.table.Member(m.Key) == nil {
		return nil // names that nobody needs any more are not looked up
	}
	return []netip.AddrPort{netip.MustParseAddrPort("192.0.2.10:5060")}
}

// register implements accountWorld by an atomic registrar (RFC 3261 10.3).
func (n *accountNode) register(o b2bua.RegisterOrder) {
	w := n.w
	w.requests++
	contact := "sip:token@" + n.name
	if w.silent {
		o.Done(b2bua.RegisterResult{Contact: contact, Err: errors.New("no response")})
		return
	}
	for _, uri := range o.Remove {
		delete(w.contacts, uri)
	}
	if delete(w.contacts, contact); o.Expires > 0 {
		w.contacts[contact] = w.now.Add(time.Duration(o.Expires) * time.Second)
	}
	text := "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>;tag=2\r\nCall-ID: c\r\nCSeq: 1 REGISTER\r\n"
	r := b2bua.RegisterResult{Contact: contact}
	for uri, until := range w.contacts {
		text += fmt.Sprintf("Contact: <%s>;expires=%d\r\n", uri, int(until.Sub(w.now).Seconds()))
		r.Own = append(r.Own, uri)
	}
	m, fault := sip.Parse([]byte(text + "Content-Length: 0\r\n\r\n"))
	if fault != nil {
		w.t.Fatal(fault)
	}
	r.Message = m
	o.Done(r)
}

// tell implements accountWorld: all living nodes hear of it.
func (n *accountNode) tell(member string, value []byte) {
	if value == nil {
		delete(n.told, member)
		return
	}
	told, err := readTold(value)
	if err != nil {
		n.w.t.Fatal(err)
	}
	n.told[member] = told
	for _, o := range n.w.nodes {
		if o != n && !o.dead {
			o.s.changed([]soft.Change{{Entry: soft.Entry{Kind: soft.KindAccount, Key: member, Owner: n.name, Value: value, Since: n.w.now}, Reason: soft.Put}})
		}
	}
}

func (n *accountNode) heard() {}

func (n *accountNode) alarm(detail string) { n.alarmed = detail }

// TestOneNodeRegisters, takes over within a second of the news, and leaves no contact
// of a lost node behind; over hours there are no more REGISTERs than refreshes.
func TestOneNodeRegisters(t *testing.T) {
	w := newCarrierWorld(t)
	w.run(accountsWarmUp + time.Second)
	first := w.owner()
	if !strings.HasPrefix(first, "dallas-") {
		t.Fatalf("%q registers a member of dallas", first)
	}
	w.holds(first)

	w.nodes[first].dead = true
	w.meet()
	w.run(time.Second)
	second := w.owner()
	w.holds(second)

	w.boot(first)
	w.meet()
	w.run(10 * time.Second)
	w.holds(first)
	if w.owner() != first {
		t.Fatalf("%q has the account", w.owner())
	}
	w.run(2 * time.Minute)
	before := w.requests
	w.run(3 * time.Hour)
	w.holds(first)
	if n := w.requests - before; n < 22 || n > 26 {
		t.Errorf("%d REGISTERs in three hours of ten minutes each", n)
	}
}

// TestPeerSiteRegisters when a site is gone for a while, not when it blinks.
func TestPeerSiteRegisters(t *testing.T) {
	w := newCarrierWorld(t)
	w.run(5 * time.Second)
	first := w.owner()
	w.nodes["dallas-1"].dead, w.nodes["dallas-2"].dead = true, true
	w.meet()
	w.run(siteLostAfter - time.Second)
	w.holds(first)
	w.run(3 * time.Second)
	w.holds("ashburn-1")
	w.boot("dallas-1")
	w.meet()
	w.run(accountsWarmUp + time.Second)
	w.holds("dallas-1")
}

// TestTwoOwnersDoNotFight: nodes that do not agree who lives each register, and do not
// throw each other out again and again; afterwards the owner's contact is there.
func TestTwoOwnersDoNotFight(t *testing.T) {
	w := newCarrierWorld(t)
	w.run(5 * time.Second)
	first := w.owner()
	other := map[string]string{"dallas-1": "dallas-2", "dallas-2": "dallas-1"}[first]
	w.nodes[other].s.see([]verdict.Node{{Name: other, Site: "dallas"}})
	before := w.requests
	w.run(10 * time.Minute)
	if n := w.requests - before; n > 60 {
		t.Errorf("%d REGISTERs in ten minutes", n)
	}
	w.meet()
	w.run(2 * time.Minute)
	if _, ok := w.contacts["sip:token@"+first]; !ok || w.owner() != first {
		t.Errorf("owner %q: %v", w.owner(), w.contacts)
	}
}

// TestContactGoesWithTheConfiguration, whether the member goes or only its register.
func TestContactGoesWithTheConfiguration(t *testing.T) {
	for name, change := range map[string]func(*trunkgroup.Document){
		"member": func(d *trunkgroup.Document) { d.TrunkGroups[0].Members = d.TrunkGroups[0].Members[1:] },
		"register": func(d *trunkgroup.Document) {
			d.TrunkGroups[0].Members[0].Account.Register = false
			d.TrunkGroups[0].Members[0].Account.Expires = 0
		},
		"disabled": func(d *trunkgroup.Document) { d.TrunkGroups[0].Members[0].Disabled = true },
		"aor":      func(d *trunkgroup.Document) { d.TrunkGroups[0].Members[0].Account.AOR = "sip:101@carrier.example" },
	} {
		w := newCarrierWorld(t)
		w.run(5 * time.Second)
		w.holds(w.owner())
		before := w.requests
		w.table = accountTable(t, change)
		for _, n := range w.nodes {
			n.s.use(w.table)
		}
		w.run(5 * time.Second)
		if name == "aor" { // out with the old, in with the new
			if n := w.requests - before; n != 2 {
				t.Errorf("%s: %d REGISTERs", name, n)
			}
			continue
		}
		w.holds()
		if w.owner() != "" || w.requests != before+1 {
			t.Errorf("%s: %q has the account, %d REGISTERs", name, w.owner(), w.requests-before)
		}
	}
}

// TestLapseIsAlarming, once it is no passing thing, and until it is over.
func TestLapseIsAlarming(t *testing.T) {
	w := newCarrierWorld(t)
	w.silent = true
	w.run(5 * time.Second)
	n := w.nodes[w.owner()]
	if n.alarmed != "" {
		t.Errorf("alarm after one failure: %s", n.alarmed)
	}
	w.run(time.Minute)
	if !strings.Contains(n.alarmed, "carrier/dal") || !strings.Contains(n.alarmed, "no answer from the registrar at 192.0.2.10:5060") {
		t.Errorf("alarm %q", n.alarmed)
	}
	if told := n.told["carrier/dal"]; told.State != "failed" || told.Next == nil || told.Failures < 3 {
		t.Errorf("%+v", told)
	}
	for _, o := range w.nodes { // all nodes know, for members that want their registration
		if reason, since := o.s.lapsed("carrier/dal"); reason == "" || since.IsZero() || since.After(w.now) {
			t.Errorf("%s: lapsed %q since %s", o.name, reason, since)
		}
	}
	w.silent = false
	w.run(10 * time.Minute)
	for _, o := range w.nodes {
		if reason, _ := o.s.lapsed("carrier/dal"); reason != "" {
			t.Errorf("%s: lapsed %q", o.name, reason)
		}
	}
	if n.alarmed != "" || n.told["carrier/dal"].State != "registered" {
		t.Errorf("alarm %q, %+v", n.alarmed, n.told)
	}
}
