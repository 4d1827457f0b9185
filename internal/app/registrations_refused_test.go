package app

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/registry"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/yamldoc"
)

func registeringTable(t *testing.T, members int) *trunkgroup.Table {
	t.Helper()
	doc, err := yamldoc.Decode("cluster.yaml", []byte(registering(members)))
	if err != nil {
		t.Fatal(err)
	}
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// An operator sees why a PBX is refused, from where, since when and how often,
// until a day is over or the PBX is taken out of the document.
func TestRefusedRegistersAreRemembered(t *testing.T) {
	table := registeringTable(t, 3)
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var r refusals
	note := func(after time.Duration, pbx int, from, result, reason string) {
		m := table.MatchAOR(fmt.Sprintf("sip:pbx-%d@sip.example.com", pbx))
		r.note(start.Add(after), &b2bua.Event{Member: m, Source: netip.MustParseAddrPort(from), Result: result, Reason: reason})
	}
	for i := range 3 {
		note(time.Duration(i)*time.Minute, 0, fmt.Sprintf("198.51.100.7:%d", 5060+i), "challenged", auth.ReasonDigest)
	}
	note(time.Minute, 1, "198.51.100.8:5060", "challenged", auth.ReasonDigest)
	note(time.Hour, 1, "198.51.100.8:5060", "user", "")
	list := r.list(start.Add(time.Hour), table, "", 10)
	if len(list) != 3 || list[0].Member != "acme-in/pbx-1" || list[0].Times != 1 || !list[0].Since.Equal(start.Add(time.Hour)) ||
		!strings.Contains(list[0].Why, "`users`") {
		t.Fatalf("%+v", list)
	}
	if l := list[2]; l.AOR != "sip:pbx-1@sip.example.com" || l.Times != 1 {
		t.Errorf("%+v", l)
	}
	if l := list[1]; l.Times != 3 || !l.Since.Equal(start) || !l.Last.Equal(start.Add(2*time.Minute)) || l.Source != "198.51.100.7:5062" ||
		!strings.HasPrefix(l.Why, "wrong password") {
		t.Errorf("%+v", l)
	}
	if one := r.list(start, table, "sip:pbx-1@sip.example.com", 10); len(one) != 2 || one[0].AOR != "sip:pbx-1@sip.example.com" {
		t.Errorf("%+v", one)
	}
	for i := range 9 { // a guesser with many addresses does not fill the memory
		note(time.Hour, 2, fmt.Sprintf("198.51.100.%d:5060", i), "challenged", auth.ReasonDigest)
	}
	if many := r.list(start.Add(time.Hour), table, "sip:pbx-2@sip.example.com", 10); len(many) != refusalsPerAOR || many[0].Times != 1 {
		t.Errorf("%+v", many)
	}
	if list = r.list(start.Add(24*time.Hour+30*time.Minute), table, "sip:pbx-1@sip.example.com", 10); len(list) != 1 {
		t.Errorf("%d after a day", len(list))
	}
	if list = r.list(start.Add(time.Hour), registeringTable(t, 1), "", 10); len(list) != 0 || r.n.Load() != 0 {
		t.Errorf("%+v of a member that is gone; %d left", list, r.n.Load())
	}
}

// A guesser shows, at the node that he asks; an address of record that nobody has
// is no empty list.
func TestRefusedRegistersAreListed(t *testing.T) {
	b := newClusterOf(t, "127.88.46", registering(1), 1)[0]
	b.start()
	defer b.stop()
	ready(b)
	m := b.app.desk.table().MatchAOR("sip:pbx-0@sip.example.com")
	b.app.watch.Count(b2bua.Event{
		Kind: b2bua.EventRegister, Result: "challenged", Reason: auth.ReasonDigest, Member: m, Source: netip.MustParseAddrPort("198.51.100.7:5060"),
	})
	var list admin.RegistrationList
	if code := b.ask(http.MethodGet, "/v1/registrations?aor=sip:pbx-0@sip.example.com", nil, &list); code != http.StatusOK || len(list.Refused) != 1 {
		t.Errorf("%d: %+v", code, list)
	}
	if code := b.ask(http.MethodGet, "/v1/registrations?aor=sip:pbx-9@sip.example.com", nil, nil); code != http.StatusNotFound {
		t.Errorf("an address of record that no member has: %d", code)
	}
}

// A far end that is registered at the peer site is not called unregistered, and
// one whose connection ended shows since when.
func TestExplainSaysWhereAFarEndIsRegistered(t *testing.T) {
	now := time.Now()
	r := &registrations{index: registry.New(registrar.Node{Name: "n1", Site: "dallas", Boot: 1})}
	r.index.SetPeers([]registry.Node{{Name: "n2", Site: "ashburn", Boot: 7, Up: true}})
	const aor = "sip:pbx-0@sip.example.com"
	if got := r.why(aor, "", trunkgroup.CauseUnregistered); got != "" {
		t.Errorf("nobody is registered: %q", got)
	}
	there := bindingOf(0, registrar.Node{Name: "n2", Site: "ashburn", Boot: 7}, now)
	there.Reach, there.Transport, there.Flow = trunkgroup.ReachFlow, trunkgroup.TCP, 9
	r.index.Set(there)
	if got := r.why(aor, "", trunkgroup.CauseUnregistered); got != "registered in ashburn" {
		t.Errorf("it is registered at the peer site: %q", got)
	}
	gone := *there
	gone.Flow, gone.Changed = 0, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r.index.Set(&gone)
	if got := r.why(aor, "", trunkgroup.CauseUnregistered); got != "registered in ashburn, flow_gone since 2026-11-30T12:00:00Z" {
		t.Errorf("its connection ended: %q", got)
	}
	if got := r.why(aor, gone.Contact, trunkgroup.CauseFlowGone); got != "flow_gone since 2026-11-30T12:00:00Z" {
		t.Errorf("its connection ended: %q", got)
	}
	if got := r.why(aor, gone.Contact, "disabled"); got != "" {
		t.Errorf("an operator took it out: %q", got)
	}
}
