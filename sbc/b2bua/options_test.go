package b2bua

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func optionsRequest(uri, from string, n int) string {
	return "OPTIONS " + uri + " SIP/2.0\r\nVia: SIP/2.0/UDP " + from + ";branch=z9hG4bKopt" + fmt.Sprint(n) + "\r\nMax-Forwards: 70\r\n" +
		"From: <sip:ping@" + from + ">;tag=p\r\nTo: <" + uri + ">\r\nCall-ID: opt\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"
}

// askOptions returns the answer to an OPTIONS.
func (w *world) askOptions(from string, n int) *sip.Message {
	w.t.Helper()
	w.from(from, optionsRequest("sip:203.0.113.1", from, n))
	return w.take(from, "SIP/2.0")
}

// P-24, D11: a trunk hears whether a call of it could be served now.
func TestP24_OptionsSayWhatCouldBeServed(t *testing.T) {
	peerUp := []geo.PeerNode{{Name: "ash-1", Site: "ashburn", Fresh: true}}
	peerDown := []geo.PeerNode{{Name: "ash-1", Site: "ashburn"}}
	here := []string{"acme-in/dal-1", "acme-in/dal-2"}
	for _, c := range []struct {
		name  string
		from  string
		down  []string
		peers []geo.PeerNode
		code  int
		why   string
	}{
		{"carrier, all up", carrierAddr, nil, peerUp, 200, ""},
		{"carrier, one PBX up is enough", carrierAddr, here[:1], nil, 200, ""},
		{"carrier, the peer site takes it", carrierAddr, here, peerUp, 200, ""},
		{"carrier, the peer site is away", carrierAddr, here, peerDown, 503, "no called party can be reached now"},
		{"carrier, nobody anywhere", carrierAddr, append([]string{"acme-in/ash-1"}, here...), peerUp, 503, "no called party can be reached now"},
		{"customer, all up", pbx1Addr, nil, peerUp, 200, ""},
		{"customer, carriers of the peer site", pbx1Addr, []string{"carrier-a/dal"}, peerUp, 200, ""},
		{"customer, no carrier", pbx1Addr, []string{"carrier-a/dal"}, peerDown, 503, "no carrier takes calls now"},
		{"customer, its own PBXs are down", pbx1Addr, here, peerDown, 200, "calls to you find no PBX in: acme-in"},
	} {
		doc := document()
		doc.Customers = []trunkgroup.CustomerSpec{{Name: "acme"}}
		doc.TrunkGroups[0].Customer, doc.TrunkGroups[1].Customer = "acme", "acme"
		w := newWorldOf(t, "dal-1", "dallas", doc)
		w.peers = c.peers
		setDown(w, c.down...)
		m := w.askOptions(c.from, 1)
		if m.Status() != c.code {
			t.Errorf("%s: %d, want %d", c.name, m.Status(), c.code)
		}
		warning := string(valueOf(m, "Warning"))
		if want := "399 203.0.113.1:5060 \"" + c.why + "\""; c.why != "" && warning != want || c.why == "" && warning != "" {
			t.Errorf("%s: Warning: %s, want %s", c.name, warning, want)
		}
		if m.Has(sip.RetryAfter) != (c.code == 503) || m.Has(sip.Allow) != (c.code == 200) {
			t.Errorf("%s:\n%s", c.name, m.Raw())
		}
	}
}

// One trunk that is carrier and customer on one source is served when either is.
func TestP24_OptionsOfASourceOfBothRoles(t *testing.T) {
	doc := document()
	doc.TrunkGroups[1].Sources = append(doc.TrunkGroups[1].Sources, trunkgroup.SourceSpec{IP: "192.0.2.10", Port: 5060})
	w := newWorldOf(t, "dal-1", "dallas", doc)
	setDown(w, "acme-in/dal-1", "acme-in/dal-2")
	if m := w.askOptions(carrierAddr, 1); m.Status() != 200 || !strings.Contains(string(m.Raw()), "no called party") {
		t.Errorf("one role is served:\n%s", m.Raw())
	}
	setDown(w, "acme-in/dal-1", "acme-in/dal-2", "carrier-a/dal")
	if m := w.askOptions(carrierAddr, 2); m.Status() != 503 {
		t.Errorf("none is served:\n%s", m.Raw())
	}
}

// Registered PBXs count as they can be reached.
func TestP24_OptionsAndRegistrations(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas")
	setDown(w, "acme-in/dal-1", "acme-in/dal-2")
	if m := w.askOptions(carrierAddr, 1); m.Status() != 503 {
		t.Errorf("nobody is registered:\n%s", m.Raw())
	}
	w.view.Registry = bindings{confAOR: {conference("dallas", "1", confAddr)}}
	w.advance(availabilityAge)
	if m := w.askOptions(carrierAddr, 2); m.Status() != 200 {
		t.Errorf("one has registered:\n%s", m.Raw())
	}
	w.view.Registry = bindings{confAOR: {conference("ashburn", "1", confAddr)}}
	w.advance(availabilityAge)
	if m := w.askOptions(carrierAddr, 3); m.Status() != 503 {
		t.Errorf("it has moved to a site that is away:\n%s", m.Raw())
	}
}

// Who is not known learns that somebody speaks SIP, and nothing else: the same
// octets whatever user he asks for.
func TestP24_StrangersLearnNothing(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas", conference("dallas", "1", confAddr))
	w.s.cfg.UserAgent = "Product/1.0"
	var first []byte
	for n, user := range []string{"conference@sip.local", "nobody@sip.local", "rooms@sip.example.com", "100@203.0.113.1", "+12145550100@203.0.113.1"} {
		w.from(strangerAddr, strings.ReplaceAll(optionsRequest("sip:X", strangerAddr, n), "sip:X", "sip:"+user))
		m := w.take(strangerAddr, "SIP/2.0 200")
		for _, id := range []sip.HeaderID{sip.Server, sip.UserAgent, sip.Allow, sip.Contact, sip.Supported, sip.Accept} {
			if m.Has(id) {
				t.Errorf("a stranger gets %s", id)
			}
		}
		got := bytes.ReplaceAll(bytes.ReplaceAll(m.Raw(), []byte(user), []byte("USER")), fmt.Appendf(nil, "z9hG4bKopt%d", n), []byte("BRANCH"))
		if first == nil {
			first = got
		}
		if !bytes.Equal(got, first) {
			t.Errorf("%s:\n%s\nthe first:\n%s", user, got, first)
		}
	}
	setDown(w, "acme-in/dal-1", "acme-in/dal-2", "carrier-a/dal")
	w.view.Registry = nil
	if m := w.askOptions(strangerAddr, 50); m.Status() != 200 {
		t.Error("a stranger hears of an outage")
	}
}

// looked counts how often a registry is asked.
type looked struct {
	bindings
	n *int
}

func (l looked) Bindings(aor string) []*trunkgroup.Binding {
	*l.n++
	return l.bindings.Bindings(aor)
}

// A thousand OPTIONS in a second look once, and a new view is looked at at once.
func TestP24_OptionsLookOnce(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas")
	setDown(w, "acme-in/dal-1", "acme-in/dal-2")
	n := 0
	w.view.Registry = looked{bindings{}, &n}
	for i := range 1000 {
		w.askOptions(carrierAddr, i)
	}
	if n != 1 {
		t.Errorf("the registry was asked %d times", n)
	}
	setDown(w)
	if m := w.askOptions(carrierAddr, 2000); m.Status() != 200 {
		t.Error("a new view is not looked at")
	}
	w.advance(time.Millisecond)
}

func BenchmarkOptions(b *testing.B) {
	w := aorWorld(b, "dal-1", "dallas")
	table, view := w.Routing()
	b.ReportAllocs()
	for b.Loop() {
		w.s.serviceOf(table, view, table.Group("carrier-a"))
	}
}
