package b2bua

import (
	"crypto/md5"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// aorDocument gives the customer of document a PBX that registers, a digest
// user, a user that may only register, and a neighbour.
func aorDocument() *trunkgroup.Document {
	doc := document()
	ha1 := func(user string) string {
		sum := md5.Sum([]byte(user + ":sip.example.com:secret"))
		return hex.EncodeToString(sum[:])
	}
	doc.Customers = []trunkgroup.CustomerSpec{{Name: "acme"}}
	doc.TrunkGroups[0].Customer, doc.TrunkGroups[1].Customer = "acme", "acme"
	doc.TrunkGroups = append(
		doc.TrunkGroups,
		trunkgroup.GroupSpec{
			Name: "acme-rooms", Role: trunkgroup.OriginationCustomer, Customer: "acme", Numbers: []string{"+13035550100"},
			Members:     []trunkgroup.MemberSpec{{ID: "conf", Registration: &trunkgroup.RegistrationSpec{AOR: "sip:conference@sip.local", Users: []string{"rooms"}}}},
			Credentials: []trunkgroup.CredentialSpec{{Username: "rooms", Realm: "sip.example.com", HA1MD5: ha1("rooms")}},
		},
		trunkgroup.GroupSpec{
			Name: "acme-phones", Role: trunkgroup.TerminationCustomer, Customer: "acme",
			Credentials: []trunkgroup.CredentialSpec{{Username: "initech", Realm: "sip.example.com", HA1MD5: ha1("initech"), ANIOverride: "+13035550100"}},
		},
		trunkgroup.GroupSpec{
			Name: "neighbour", Role: trunkgroup.TerminationCustomer, Sources: []trunkgroup.SourceSpec{{IP: "203.0.113.9", Port: 5060}},
		},
	)
	return doc
}

// bindings is a registry that a test fills by hand: by AOR, and by site.
type bindings map[string][]*trunkgroup.Binding

func (r bindings) Bindings(aor string) []*trunkgroup.Binding        { return r[aor] }
func (r bindings) Reach(b *trunkgroup.Binding) (site, cause string) { return b.Site, "" }

const (
	confAOR  = "sip:conference@sip.local"
	confAddr = "198.51.100.200:5060"
)

func conference(site, id, addr string) *trunkgroup.Binding {
	return &trunkgroup.Binding{
		AOR: confAOR, ID: id, Contact: "sip:conf@" + addr, Transport: trunkgroup.UDP, Addr: netip.MustParseAddrPort(addr),
		Reach: trunkgroup.ReachAny, Site: site, Node: site, Q: 1000, Sessions: -1,
	}
}

func aorWorld(t testing.TB, node, site string, list ...*trunkgroup.Binding) *world {
	w := newWorldOf(t, node, site, aorDocument())
	w.view.Registry = bindings{confAOR: list}
	return w
}

// toConference is a call from an address to the conference by its AOR.
func toConference(from string, body string) invite {
	return invite{called: "conference", host: from, body: body}
}

func aorText(i invite) string {
	return strings.Replace(i.String(), "INVITE sip:"+i.called+"@203.0.113.1 ", "INVITE sip:"+i.called+"@SIP.local ", 1)
}

func TestR03_CustomerCallsAnAddressOfRecord(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas", conference("dallas", "1", confAddr))
	w.from(pbx1Addr, aorText(toConference(pbx1Addr, offer)))
	b := w.take(confAddr, "INVITE sip:conf@"+confAddr)
	w.from(confAddr, reply(b, 486, "x", ""))
	w.take(pbx1Addr, "SIP/2.0 486")
	r := w.records[0]
	if r.Direction != "inbound" || r.IngressGroup != "acme-out" || r.Customer != "acme-rooms" || r.Called != confAOR || r.CalledRaw != "conference" || r.EgressMember != "conf" {
		t.Errorf("record %+v", r)
	}
}

func TestR03_OverAHandOff(t *testing.T) {
	dal, ash := aorWorld(t, "dal-1", "dallas"), aorWorld(t, "ash-1", "ashburn", conference("ashburn", "1", confAddr))
	p := newTwoSites(t)
	dal.peers, ash.peers, ash.random = p.dal.peers, p.ash.peers, 99
	p.dal, p.ash = dal, ash
	dal.from(pbx1Addr, aorText(toConference(pbx1Addr, offer)))
	p.exchange()
	b := ash.take(confAddr, "INVITE sip:conf@"+confAddr)
	ash.from(confAddr, reply(b, 486, "x", ""))
	p.exchange()
	dal.take(pbx1Addr, "SIP/2.0 486")
	if r := dal.records[0]; r.EgressSite != "ashburn" || r.EgressMember != "conf" || r.Called != confAOR {
		t.Errorf("record %+v", r)
	}
}

func TestR03_AorLinkNumberOfAGroupThatRegisters(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas", conference("dallas", "1", confAddr))
	w.from(carrierAddr, invite{called: "+13035550100", body: offer}.String())
	w.take(confAddr, "INVITE sip:conf@"+confAddr)
}

func TestR03_NobodyElseReachesAnAOR(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas", conference("dallas", "1", confAddr))
	for _, from := range []string{carrierAddr, "203.0.113.9:5060"} {
		call := toConference(from, offer)
		call.callID, call.branch = from, "z9hG4bK"+from
		w.from(from, aorText(call))
		w.none(confAddr, "INVITE")
		w.take(from, "SIP/2.0 404")
	}
}

// authorizedFor is the INVITE once more, with the answer to its challenge.
func (w *world) authorizedFor(user string, call invite, uri string, text func(invite) string) {
	w.t.Helper()
	w.from(strangerAddr, text(call))
	challenge := w.take(strangerAddr, "SIP/2.0 401")
	call.lines, call.seq, call.branch = call.lines+authorizeAs(w.t, user, challenge, uri), 2, call.branch+"2"
	w.from(strangerAddr, text(call))
}

func TestP29_WhoMayOnlyRegisterCallsNobodyOutside(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas", conference("dallas", "1", confAddr))
	w.authorizedFor("rooms", invite{called: "+13105550123", body: offer, host: strangerAddr, branch: "z9hG4bKr"}, "sip:+13105550123@203.0.113.1", invite.String)
	w.take(strangerAddr, "SIP/2.0 403")
	w.none(carrierAddr, "INVITE")
	if r := w.records[0]; r.HangupCause != trunkgroup.CauseRegistrationOnly || r.Customer != "acme-rooms" {
		t.Errorf("record %+v", r)
	}
	call := toConference(strangerAddr, offer)
	call.callID, call.branch = "call-2", "z9hG4bKs"
	w.authorizedFor("rooms", call, "sip:conference@SIP.local", aorText)
	w.take(confAddr, "INVITE")
}

func TestP29_ANIOverride(t *testing.T) {
	const identities = "P-Asserted-Identity: <sip:+19995550000@evil.example>\r\nP-Preferred-Identity: <sip:me@evil.example>\r\n" +
		"Remote-Party-ID: \"Me\" <sip:+19995550000@evil.example>;party=calling;privacy=full\r\nX-Other: kept\r\n"
	w := aorWorld(t, "dal-1", "dallas")
	w.authorizedFor("initech", invite{called: "+13105550123", body: offer, host: strangerAddr, branch: "z9hG4bKo", lines: identities}, "sip:+13105550123@203.0.113.1", invite.String)
	b := w.take(carrierAddr, "INVITE")
	const shown = "<sip:+13035550100@203.0.113.1:5060>"
	if got := withoutTag(b.Header(sip.From)); got != shown {
		t.Errorf("From %s", got)
	}
	if got := string(b.Header(sip.PAssertedIdentity)); got != shown {
		t.Errorf("P-Asserted-Identity %s", got)
	}
	if got := string(b.Header(sip.RemotePartyID)); got != shown+";party=calling;privacy=full" {
		t.Errorf("Remote-Party-ID %s", got)
	}
	if b.Has(sip.PPreferredIdentity) || strings.Contains(string(b.Raw()), "1999555") || !strings.Contains(string(b.Raw()), "X-Other: kept") {
		t.Errorf("what the caller says of himself went on:\n%s", b.Raw())
	}
	w.from(carrierAddr, reply(b, 486, "x", ""))
	if got := w.take(strangerAddr, "SIP/2.0 486"); !strings.Contains(string(got.Header(sip.From)), "+13105551234") {
		t.Errorf("the caller's own From came back as %s", got.Header(sip.From))
	}
	if r := w.records[0]; r.Caller != "+13035550100" || r.CallerRaw != "+13105551234" {
		t.Errorf("record %+v", r)
	}
}

// The peer site knows nothing of the user: what crosses has the override already.
func TestP29_ANIOverrideOverAHandOff(t *testing.T) {
	p := newTwoSites(t)
	dal, ash := aorWorld(t, "dal-1", "dallas"), aorWorld(t, "ash-1", "ashburn")
	dal.peers, ash.peers, ash.random = p.dal.peers, p.ash.peers, 99
	p.dal, p.ash = dal, ash
	setDown(dal, "carrier-a/dal")
	dal.authorizedFor("initech", invite{called: "+13105550123", body: offer, host: strangerAddr, branch: "z9hG4bKo"}, "sip:+13105550123@203.0.113.1", invite.String)
	p.exchange()
	b := ash.take("192.0.2.74:5060", "INVITE")
	if text := string(b.Raw()); strings.Contains(text, "3105551234") || !strings.Contains(text, "<sip:+13035550100@203.0.113.1:5060>") {
		t.Errorf("the caller's own number crossed:\n%s", text)
	}
}

func TestP29_ANIOverrideOfAnAnonymousCaller(t *testing.T) {
	w := aorWorld(t, "dal-1", "dallas")
	anonymous := func(i invite) string {
		return strings.Replace(i.String(), "\"Bob\" <sip:+13105551234@"+strangerAddr+">", "\"Anonymous\" <sip:anonymous@anonymous.invalid>", 1)
	}
	w.authorizedFor("initech", invite{called: "+13105550123", body: offer, host: strangerAddr, branch: "z9hG4bKo", lines: "Privacy: id\r\n"}, "sip:+13105550123@203.0.113.1", anonymous)
	b := w.take(carrierAddr, "INVITE")
	if !strings.Contains(string(b.Header(sip.From)), "anonymous.invalid") || !strings.Contains(string(b.Header(sip.PAssertedIdentity)), "+13035550100") || !b.Has(sip.Privacy) {
		t.Errorf("RFC 3323: the caller asked to be anonymous:\n%s", b.Raw())
	}
}

// A do-not-originate list is about the number that is shown.
func TestP29_ANIOverrideAndDoNotOriginate(t *testing.T) {
	for listed, blocked := range map[string]bool{"+13035550100": true, "+13105551234": false} {
		doc := aorDocument()
		doc.DoNotOriginate = []string{listed}
		w := newWorldOf(t, "dal-1", "dallas", doc)
		w.authorizedFor("initech", invite{called: "+13105550123", body: offer, host: strangerAddr, branch: "z9hG4bKo"}, "sip:+13105550123@203.0.113.1", invite.String)
		if got := w.find(carrierAddr, "INVITE") == nil; got != blocked {
			t.Errorf("%s is listed: blocked %t", listed, got)
		}
	}
}
