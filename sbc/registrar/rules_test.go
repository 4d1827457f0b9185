package registrar

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

const direct = "<sip:pbx@198.51.100.10:5060>"

// several servers under one AOR are several bindings.
func TestR01_ThreeServersAreThreeBindings(t *testing.T) {
	b := newBook(t)
	for _, s := range []string{"198.51.100.10", "198.51.100.11", "198.51.100.12"} {
		b.ok(reg{source: s + ":5060", callID: s, contacts: []string{"<sip:pbx@" + s + ":5060>"}})
	}
	b.want(3)
}

// a binding is user, host, port and transport; the same again updates it.
func TestR21_SameRouteUpdates(t *testing.T) {
	b := newBook(t)
	b.ok(reg{contacts: []string{direct}})
	first := b.only()
	b.now = b.now.Add(time.Minute)
	b.ok(reg{contacts: []string{"\"PBX\" <sip:pbx@198.51.100.10;x=y>;q=0.5"}})
	second := b.only()
	if second.ID != first.ID || !second.Since.Equal(epoch) || !second.Changed.Equal(b.now) || second.Q != 500 {
		t.Errorf("%+v", second)
	}
	for _, other := range []string{"<sip:pbx2@198.51.100.10>", "<sip:pbx@198.51.100.10:5070>"} {
		b.ok(reg{contacts: []string{other}})
	}
	b.want(3)
}

// a new binding above the most is refused; refreshes are not, and what
// cannot be reached gives way.
func TestR22_MaxContacts(t *testing.T) {
	b := newBook(t)
	at := func(host string) reg {
		return reg{source: host + ":5060", callID: host, contacts: []string{"<sip:pbx@" + host + ">"}}
	}
	for _, h := range []string{"198.51.100.1", "198.51.100.2", "198.51.100.3"} {
		b.ok(at(h))
	}
	if f := b.code(at("198.51.100.4"), 403); !strings.Contains(f.Reason, "Contacts") {
		t.Error(f.Reason)
	}
	b.ok(at("198.51.100.2"))
	b.lost[b.have[0].Addr.Addr()] = true
	gone := b.have[0].ID
	b.ok(at("198.51.100.4"))
	b.want(3)
	for _, rec := range b.have {
		if rec.ID == gone {
			t.Error("the one that cannot be reached is still there")
		}
	}
	// One REGISTER with too many of its own.
	b = newBook(t)
	b.code(reg{contacts: []string{direct, "<sip:a@198.51.100.10>", "<sip:b@198.51.100.10>", "<sip:c@198.51.100.10>"}}, 403)
	// In exchange for others there is room.
	b.ok(reg{contacts: []string{direct, "<sip:a@198.51.100.10>", "<sip:b@198.51.100.10>"}})
	b.ok(reg{contacts: []string{direct + ";expires=0", "<sip:c@198.51.100.10>"}})
	b.want(3)
}

// RFC 3261 10.3: Expires of the contact before the header, none is the default,
// nonsense too; 423 names the least; longer ones are cut.
func TestRFC3261_Expires(t *testing.T) {
	for _, c := range []struct {
		name, contact, lines string
		code                 int
		want                 time.Duration
	}{
		{"default", direct, "", 0, time.Hour},
		{"header", direct, "Expires: 600\r\n", 0, 10 * time.Minute},
		{"contact first", direct + ";expires=700", "Expires: 600\r\n", 0, 700 * time.Second},
		{"cut", direct + ";expires=86400", "", 0, time.Hour},
		{"nonsense", direct + ";expires=soon", "", 0, time.Hour},
		{"too large a number", direct + ";expires=99999999999", "", 0, time.Hour},
		{"too brief", direct + ";expires=59", "", 423, 0},
		{"least", direct + ";expires=60", "", 0, time.Minute},
		{"negative is nonsense", direct, "Expires: -1\r\n", 0, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBook(t)
			r := reg{contacts: []string{c.contact}, lines: c.lines}
			if c.code != 0 {
				if f := b.code(r, c.code); f.Extra != "Min-Expires: 60\r\n" {
					t.Error(f.Extra)
				}
				return
			}
			b.ok(r)
			if got := b.only().Expires.Sub(b.now); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// A least above an hour refuses no hour (RFC 3261 10.3 step 7).
func TestRFC3261_AnHourIsNeverTooBrief(t *testing.T) {
	b := newBook(t)
	b.rules.MinExpires, b.rules.MaxExpires = 2*time.Hour, 2*time.Hour
	b.ok(reg{contacts: []string{direct + ";expires=3600"}})
	b.code(reg{contacts: []string{direct + ";expires=3599"}}, 423)
}

// RFC 3261 10.2.2, 10.3: the star.
func TestRFC3261_Star(t *testing.T) {
	b := newBook(t)
	b.ok(reg{contacts: []string{direct, "<sip:a@198.51.100.10>"}})
	for _, bad := range []reg{
		{contacts: []string{"*"}},
		{contacts: []string{"*"}, lines: "Expires: 60\r\n"},
		{contacts: []string{"*", direct}, lines: "Expires: 0\r\n"},
		{contacts: []string{direct, "*"}, lines: "Expires: 0\r\n"},
		{contacts: []string{"*"}, lines: "Expires: none\r\n"},
	} {
		b.code(bad, 400)
	}
	if extra := b.ok(reg{contacts: []string{"*"}, lines: "Expires: 0\r\n"}); strings.Contains(extra, "Contact") {
		t.Error(extra)
	}
	b.want(0)
}

// RFC 3261 10.3: within a Call-ID the CSeq rises, and one that does not changes
// nothing, not even its other contacts.
func TestRFC3261_OrderIsAtomic(t *testing.T) {
	b := newBook(t)
	b.ok(reg{contacts: []string{direct}, cseq: 10})
	for _, seq := range []uint32{10, 9, 1} {
		b.code(reg{contacts: []string{"<sip:new@198.51.100.10>", direct}, cseq: seq}, 400)
		b.code(reg{contacts: []string{"*"}, lines: "Expires: 0\r\n", cseq: seq}, 400)
	}
	b.ok(reg{contacts: []string{direct + ";expires=120"}, cseq: 1, callID: "after-a-restart"})
	b.only()
	// Another binding of the same Call-ID is not concerned by this one's number.
	b.ok(reg{contacts: []string{"<sip:new@198.51.100.10>"}, cseq: 9})
	b.want(2)
}

// A query changes nothing and lists all with what is left.
func TestRFC3261_QueryAndList(t *testing.T) {
	b := newBook(t)
	b.ok(reg{contacts: []string{direct + ";q=0.25;expires=600", "<sip:a@198.51.100.10;transport=udp>"}})
	b.now = b.now.Add(100*time.Second + 500*time.Millisecond)
	extra := b.ok(reg{})
	for _, want := range []string{
		"Contact: <sip:pbx@198.51.100.10:5060>;expires=500;q=0.250\r\n",
		"Contact: <sip:a@198.51.100.10;transport=udp>;expires=3500\r\n",
		"Date: Thu, 01 Jan 2026 00:01:40 GMT\r\n",
	} {
		if !strings.Contains(extra, want) {
			t.Errorf("%s lacks %s", extra, want)
		}
	}
	b.want(2)
}

// The same contact twice in one REGISTER is one.
func TestRFC3261_LastOfTheSameContactCounts(t *testing.T) {
	b := newBook(t)
	b.ok(reg{contacts: []string{direct + ";q=0.1", direct + ";q=0.2"}})
	if b.only().Q != 200 {
		t.Error(b.only().Q)
	}
}

func TestRFC3261_BadContacts(t *testing.T) {
	b := newBook(t)
	for _, c := range []string{
		"<tel:+12145550100>", "<http://198.51.100.10/>", "<sip:" + strings.Repeat("x", 520) + "@198.51.100.10>", "<sip:@198.51.100.10>", "<>",
	} {
		b.code(reg{contacts: []string{c}}, 400)
	}
	var many []string
	for range maxRequested + 1 {
		many = append(many, direct)
	}
	b.code(reg{contacts: many}, 400)
	// The headers of a contact are not kept.
	b.ok(reg{contacts: []string{"<sip:pbx@198.51.100.10?Subject=x>"}})
	if got := b.only().Contact; got != "sip:pbx@198.51.100.10" {
		t.Error(got)
	}
	// What may stand in a user is.
	b = newBook(t)
	b.ok(reg{contacts: []string{"<sip:p?b/x@198.51.100.10;line=1?Subject=x>"}})
	if got := b.only().Contact; got != "sip:p?b/x@198.51.100.10;line=1" {
		t.Error(got)
	}
}

// what a PBX reports of its sessions.
func TestR06_R07_SessionCount(t *testing.T) {
	for line, want := range map[string]int{
		"": -1, "X-Session-Count: 17\r\n": 17, "X-SESSION-COUNT: 0\r\n": 0, "X-Session-Count: many\r\n": -1,
		"X-Session-Count: -3\r\n": -1, "X-Session-Count: 99999999\r\n": -1,
	} {
		b := newBook(t)
		b.ok(reg{contacts: []string{direct}, lines: line})
		if got := b.only().Sessions; got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

// What strangers write is harmless on a terminal.
func TestTextIsPrintable(t *testing.T) {
	b := newBook(t)
	b.ok(reg{contacts: []string{direct}, lines: "User-Agent: evil\xc2\x9b2J\xffagent " + strings.Repeat("x", 300) + "\r\n"})
	if got := b.only().Agent; !strings.HasPrefix(got, "evil??2J?agent x") || len(got) != maxText {
		t.Errorf("%q", got)
	}
}

// R-20 and RFC 3261 10.3: extensions that are not known are refused.
func TestRFC3261_Extensions(t *testing.T) {
	b := newBook(t)
	if f := b.code(reg{contacts: []string{direct}, lines: "Require: path, gruu\r\nProxy-Require: foo\r\n"}, 420); f.Extra != "Unsupported: gruu, foo\r\n" {
		t.Error(f.Extra)
	}
	b.ok(reg{contacts: []string{direct}, lines: "Require: path, outbound\r\n"})
}

// RFC 3327: the path is kept as route, and told to those who know what it is.
func TestRFC3327_Path(t *testing.T) {
	b := newBook(t)
	lines := "Path: <sip:198.51.100.10;lr>, <sip:p2@10.0.0.1;lr;ob>\r\n"
	extra := b.ok(reg{contacts: []string{"<sip:pbx@10.1.1.1:5062>"}, lines: lines + "Supported: path\r\n"})
	rec := b.only()
	if len(rec.Path) != 2 || rec.Path[1] != "<sip:p2@10.0.0.1;lr;ob>" {
		t.Errorf("%q", rec.Path)
	}
	if rec.Reach != trunkgroup.ReachAny {
		t.Errorf("the first proxy names the source, so %s", rec.Reach)
	}
	if !strings.Contains(extra, "Path: <sip:198.51.100.10;lr>\r\nPath: <sip:p2@10.0.0.1;lr;ob>\r\n") {
		t.Error(extra)
	}
	if extra = b.ok(reg{contacts: []string{"<sip:pbx@10.1.1.1:5062>"}, lines: lines}); strings.Contains(extra, "Path: ") {
		t.Error(extra)
	}
	b.code(reg{contacts: []string{direct}, lines: "Path: nonsense\r\n"}, 400)
	b.code(reg{contacts: []string{direct}, lines: strings.Repeat("Path: <sip:198.51.100.10;lr>\r\n", maxPath+1)}, 400)
}

// RFC 5626: a contact with instance and reg-id is known by them.
func TestRFC5626_Outbound(t *testing.T) {
	b := newBook(t)
	flow := func(flow uint64, contact, lines string) reg {
		return reg{transport: trunkgroup.TLS, flow: flow, source: "203.0.113.5:4444", contacts: []string{contact}, lines: lines}
	}
	const known = `;+sip.instance="<urn:uuid:1>";reg-id=1`
	extra := b.ok(flow(1, "<sip:x@df7jal23ls0d.invalid;transport=ws>"+known, "Supported: outbound\r\n"))
	if !strings.Contains(extra, "Require: outbound\r\n") || !strings.Contains(extra, `;+sip.instance="<urn:uuid:1>";reg-id=1`) {
		t.Error(extra)
	}
	b.ok(flow(2, "<sip:y@other.invalid;transport=ws>"+known, "Supported: outbound\r\n"))
	if rec := b.only(); rec.Flow != 2 || rec.Contact != "sip:y@other.invalid;transport=ws" {
		t.Errorf("%+v", rec)
	}
	b.ok(flow(3, `<sip:y@other.invalid;transport=ws>;+sip.instance="<urn:uuid:1>";reg-id=2`, "Supported: outbound\r\n"))
	b.want(2)
	// Without the option tag the parameters mean nothing.
	b.ok(flow(4, `<sip:z@third.invalid;transport=ws>;+sip.instance="<urn:uuid:1>";reg-id=2`, ""))
	b.want(3)
}

// RFC 6140: one registration for all numbers.
func TestRFC6140_Bulk(t *testing.T) {
	const gin = "Require: gin\r\nProxy-Require: gin\r\nSupported: path, gin\r\n"
	b := newBook(t)
	extra := b.ok(reg{contacts: []string{"<sip:198.51.100.10:5060;bnc>"}, lines: gin})
	if !b.only().Bulk || !strings.Contains(extra, "Contact: <sip:198.51.100.10:5060;bnc>;expires=3600\r\n") || !strings.Contains(extra, "Require: gin\r\n") {
		t.Errorf("%+v %s", b.only(), extra)
	}
	b.code(reg{contacts: []string{"<sip:198.51.100.10:5060>"}, lines: gin}, 400)
	b.code(reg{contacts: []string{"<sip:pbx@198.51.100.10:5060;bnc>"}, lines: gin}, 400)
	if f := b.code(reg{contacts: []string{"<sip:198.51.100.10:5060;bnc>"}}, 421); f.Extra != "Require: gin\r\n" {
		t.Error(f.Extra)
	}
	b.ok(reg{contacts: []string{"*"}, lines: gin + "Expires: 0\r\n"})
	b.want(0)
}
