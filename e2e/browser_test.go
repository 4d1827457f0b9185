//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// webPassword is the password of the phones in the browser. Their realm has MD5 alone: SIP.js and JsSIP answer the first challenge
// or none, and know MD5 alone.
const webPassword = "on-the-page"

// sipJS is where `make packages` puts SIP.js.
const sipJS = "testdata/browser/node_modules/sip.js/lib"

// browser opens the page with the phones, outside, which trusts the nodes' certificates.
func browser(t testing.TB, w *world) *peer.Browser {
	t.Helper()
	if _, err := os.Stat(sipJS); err != nil {
		t.Fatalf("%v: make packages installs it", err)
	}
	var certs []string
	for _, n := range w.SBCs() {
		certs = append(certs, n.CertFile())
	}
	b, err := peer.StartBrowser(peer.BrowserRun{
		Lab: theLab(t), Place: lab.Outside, Page: "testdata/browser/page", Library: sipJS,
		At: netip.MustParseAddrPort(strings.TrimPrefix(tandem.PageOrigin, "http://")), Certificates: certs,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Stop()
		if t.Failed() {
			for _, e := range b.Events() {
				t.Log(e)
			}
		}
	})
	return b
}

// webPhone is one phone of the page.
type webPhone struct {
	*peer.Browser
	name, user string
	seen       int // events that tests have looked at
}

// do gives the phone a command, with further words of it as key and value.
func (p *webPhone) do(t testing.TB, command string, more ...string) {
	t.Helper()
	m := map[string]string{"do": command, "phone": p.name}
	for i := 0; i < len(more); i += 2 {
		m[more[i]] = more[i+1]
	}
	if err := p.Do(m); err != nil {
		t.Fatal(err)
	}
}

// hears waits for an event of the phone, behind those that were waited for before, and returns what it says.
func (p *webPhone) hears(t testing.TB, event, detail string) string {
	t.Helper()
	said := ""
	eventually(t, time.Minute, fmt.Sprintf("%s: %s %s", p.name, event, detail), func() error {
		all := p.Events()
		for i, e := range all[p.seen:] {
			if e.Phone == p.name && e.Event == event && strings.Contains(e.Detail, detail) {
				p.seen, said = p.seen+i+1, e.Detail
				return nil
			}
		}
		return fmt.Errorf("not among %d events", len(all))
	})
	return said
}

// at registers the user of a page's new phone at a node.
func (b webPhones) at(t testing.TB, user string, n *tandem.Node) *webPhone {
	t.Helper()
	p := &webPhone{Browser: b.Browser, name: user + "@" + n.Name, user: user, seen: len(b.Events())}
	p.do(t, "add", "user", user, "domain", "web.example.net", "password", webPassword, "server", "wss://"+n.WSS().String()+"/sip")
	p.hears(t, "connected", "")
	if contact := p.hears(t, "registered", ""); !strings.Contains(contact, ".invalid") {
		t.Errorf("the contact of %s is %q", p.name, contact)
	}
	return p
}

// webPhones is a page.
type webPhones struct{ *peer.Browser }

// TestR01_BrowserOverWSS: two phones in Chromium register over WSS at nodes of two sites (RFC 7118), are called through another node and
// through the other site, call each other with media, and call out by digest. Who loses its node, or its site,
// gets no call until it registers at another.
func TestR01_BrowserOverWSS(t *testing.T) {
	w := theWorld(t)
	page := webPhones{browser(t, w)}
	dallas, other, ashburn := w.Node(lab.Dallas1), w.Node(lab.Dallas2), w.Node(lab.Ashburn1)
	ada, ben := page.at(t, "ada", dallas), page.at(t, "ben", ashburn)

	for name, n := range map[string]*tandem.Node{"its node": dallas, "another node": other, "the other site": ashburn} {
		t.Run("called through "+name, func(t *testing.T) {
			sent := pstnCall(t, n, adaNumber, peer.WebRTC(peer.Complete(500*time.Millisecond), "actpass"))
			ada.hears(t, "invite", "")
			ada.hears(t, "session", "Terminated")
			r := recordOf(t, n, callID(t, sent))
			if r.Direction != "inbound" || r.SIPCode != 200 || r.Customer != "ada-in" {
				t.Errorf("record: %+v", r)
			}
		})
	}
	for _, c := range []struct{ from, to *webPhone }{{ben, ada}, {ada, ben}} {
		t.Run(c.from.name+" calls "+c.to.user+" in the other site, with media", func(t *testing.T) {
			c.from.do(t, "call", "to", "sip:"+c.to.user+"@web.example.net")
			c.to.hears(t, "invite", "sip:"+c.from.user+"@")
			for _, p := range []*webPhone{ada, ben} {
				p.hears(t, "session", "Established")
				p.hears(t, "media", "connected")
			}
			c.to.do(t, "hangUp")
			for _, p := range []*webPhone{ada, ben} {
				p.hears(t, "session", "Terminated")
			}
		})
	}
	t.Run("calls out by digest", func(t *testing.T) {
		w.play(t, peer.WebRTC(answers(), "active"), carriers(lab.Dallas)...)
		ada.do(t, "call", "to", "sip:"+pstnNumber+"@web.example.net")
		id := ada.hears(t, "calling", "")
		ada.hears(t, "session", "Established")
		ada.do(t, "hangUp")
		ada.hears(t, "session", "Terminated")
		r := recordOf(t, dallas, id)
		if r.Direction != "outbound" || r.Customer != "web-out" || r.EgressGroup != "carrier-a" || r.SIPCode != 200 {
			t.Errorf("record: %+v", r)
		}
	})
	t.Run("shows in the metrics", func(t *testing.T) {
		m, err := dallas.Metrics()
		if err != nil {
			t.Fatal(err)
		}
		if n := m.Sum("tandem_sip_connections", "transport=wss"); n != 1 {
			t.Errorf("%v connections by WSS, want 1", n)
		}
		if n := m.Sum("tandem_sip_requests_total", "transport=wss", "direction=in", "method=INVITE"); n < 2 {
			t.Errorf("%v INVITEs by WSS, want 2 and more", n)
		}
	})
	t.Run("unregisters", func(t *testing.T) {
		ben.do(t, "unregister")
		ben.hears(t, "registration", "Unregistered")
		pstnCall(t, other, benNumber, peer.Fails(480))
	})
	if i := slices.IndexFunc(page.Events(), func(e peer.BrowserEvent) bool { return e.Event == "failed" || e.Event == "disconnected" }); i >= 0 {
		t.Errorf("%s", page.Events()[i])
	}
	t.Run("loses its node, and then its site", func(t *testing.T) {
		w.loses(t, dallas)
		ada.hears(t, "disconnected", "")
		pstnCall(t, other, adaNumber, peer.Fails(480))
		ada = page.at(t, "ada", other)
		ada.isCalled(t, other, ashburn)

		w.loses(t, other)
		ada.hears(t, "disconnected", "")
		pstnCall(t, ashburn, adaNumber, peer.Fails(480))
		ada = page.at(t, "ada", ashburn)
		ada.isCalled(t, ashburn)
	})
}

// isCalled calls ada's number through nodes.
func (p *webPhone) isCalled(t testing.TB, nodes ...*tandem.Node) {
	t.Helper()
	for _, n := range nodes {
		pstnCall(t, n, adaNumber, peer.WebRTC(peer.Complete(0), "actpass"))
		p.hears(t, "session", "Terminated")
	}
}

// loses kills a node until the end of the test.
func (w *world) loses(t testing.TB, n *tandem.Node) {
	t.Helper()
	t.Cleanup(func() {
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
	})
	n.Kill()
}
