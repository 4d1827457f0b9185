package registrar

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// drawRecord makes a record as the registrar could.
func drawRecord(t *rapid.T) *Record {
	text := rapid.StringMatching(`[a-z0-9:;@<>=.-]{0,40}`)
	addr := func(name string) netip.AddrPort {
		if rapid.Bool().Draw(t, name+"6") {
			return netip.AddrPortFrom(netip.MustParseAddr("2001:db8::7"), rapid.Uint16().Draw(t, name))
		}
		return netip.AddrPortFrom(netip.MustParseAddr("198.51.100.7"), rapid.Uint16().Draw(t, name))
	}
	r := &Record{
		CallID: rapid.Uint64().Draw(t, "callid"), CSeq: rapid.Uint32().Draw(t, "cseq"), RegID: rapid.Uint32().Draw(t, "regid"), Taken: epoch,
		Changed: epoch.Add(time.Duration(rapid.IntRange(0, 1e7).Draw(t, "ended")) * time.Millisecond),
	}
	r.AOR, r.ID, r.Contact = aor, "0123456789abcdef", "sip:"+text.Draw(t, "contact")
	for range rapid.IntRange(0, 3).Draw(t, "paths") {
		r.Path = append(r.Path, "<sip:"+text.Draw(t, "path")+">")
	}
	r.Transport, r.Reach = trunkgroup.TLS, trunkgroup.Reach(rapid.IntRange(1, 3).Draw(t, "reach"))
	r.Addr, r.Local = addr("addr"), addr("local")
	r.Node, r.Site, r.Boot, r.Advertise = "dal-1", "dallas", 7, text.Draw(t, "advertise")
	r.Flow, r.Q, r.Sessions = rapid.Uint64().Draw(t, "flow"), rapid.IntRange(0, 1000).Draw(t, "q"), rapid.IntRange(-1, maxSessions).Draw(t, "sessions")
	r.Bulk, r.Instance, r.Agent, r.User = rapid.Bool().Draw(t, "bulk"), text.Draw(t, "instance"), text.Draw(t, "agent"), text.Draw(t, "user")
	r.Since = epoch.Add(-time.Duration(rapid.IntRange(0, 1e9).Draw(t, "age")) * time.Millisecond)
	r.Expires = epoch.Add(time.Hour)
	return r
}

func metaOf(r *Record) Meta {
	return Meta{Key: r.Key(), Node: r.Node, Boot: r.Boot, Taken: r.Taken, Expires: r.Expires}
}

func TestDEC15_RecordsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecord(t)
		got, err := ParseRecord(metaOf(want), want.Append(nil, epoch))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("\n%+v\n%+v", got, want)
		}
	})
}

// Nodes of a later version may say more.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	b := newBook(t)
	b.ok(reg{contacts: []string{direct}})
	rec := b.only()
	value := rec.Append([]byte{200, 3, 1, 2, 3}, b.now)
	value = append(value, 201, 0)
	got, err := ParseRecord(metaOf(rec), value)
	if err != nil || got.Contact != rec.Contact || got.CSeq != rec.CSeq {
		t.Errorf("%+v %v", got, err)
	}
}

func FuzzParseRecord(f *testing.F) {
	b := newBook(f)
	b.ok(reg{contacts: []string{direct}, lines: "Path: <sip:p>\r\nUser-Agent: x\r\n"})
	f.Add(b.only().Append(nil, b.now))
	f.Add([]byte{1, 1, 'x', 4, 2, 0, 0})
	f.Fuzz(func(t *testing.T, value []byte) {
		m := Meta{Key: aor + "\x00id", Node: "n", Boot: 1, Taken: epoch, Expires: epoch.Add(time.Hour)}
		r, err := ParseRecord(m, value)
		if err != nil {
			return
		}
		again, err := ParseRecord(m, r.Append(nil, epoch))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%v\n%+v\n%+v", err, again, r)
		}
	})
}

// FuzzRegister gives the registrar whatever passes the gate: it must decide, never
// send anywhere but to the source, and answer with what can be parsed.
func FuzzRegister(f *testing.F) {
	f.Add("Contact: <sip:pbx@198.51.100.10>;q=0.3;expires=70;+sip.instance=\"<u>\";reg-id=1\r\nSupported: outbound, path\r\nPath: <sip:p;lr>\r\n")
	f.Add("Contact: *\r\nExpires: 0\r\n")
	f.Add("Require: gin\r\nContact: <sip:1.2.3.4;bnc>\r\nX-Session-Count: 3\r\n")
	f.Fuzz(func(t *testing.T, lines string) {
		m, fault := sip.Parse([]byte(reg{lines: lines}.text(2)))
		if fault != nil || !m.IsRequest() {
			return
		}
		source := netip.MustParseAddrPort("198.51.100.10:5060")
		r, refusal := Parse(m, &trunkgroup.Member{Registration: rules()}, "pbx", Origin{Source: source, Transport: trunkgroup.UDP})
		if refusal != nil {
			if refusal.Code < 400 || refusal.Code > 499 || refusal.Result == "" {
				t.Fatalf("%+v", refusal)
			}
			return
		}
		d := Decide(epoch, self, r, nil, func(*Record) bool { return true })
		for _, rec := range d.Put {
			if rec.Addr.Addr() != source.Addr() {
				t.Fatalf("calls would go to %s", rec.Addr)
			}
			if len(rec.Key()) > 1024 || len(rec.Append(nil, epoch)) > 16<<10 {
				t.Fatal("a record is too large")
			}
		}
		answer := sip.AppendResponse(nil, m, 200, "", []byte("t"), source, Extra(epoch, r, d.Put), nil, nil)
		parsed, fault := sip.Parse(answer)
		if fault != nil {
			t.Fatalf("%v\n%s", fault, answer)
		}
		if got := parsed.Count(sip.Contact); got != len(d.Put) {
			t.Fatalf("%d contacts in the answer, %d were put\n%s", got, len(d.Put), answer)
		}
	})
}
