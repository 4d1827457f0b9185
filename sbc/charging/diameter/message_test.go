package diameter

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var id = &Identity{Host: "dal-1.example", Realm: "example", State: 7}

func request(kind charging.Kind) charging.Request {
	begin := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	r := charging.Request{
		Session: "dal-1.example;1;3;01HQ", Kind: kind, Number: 2, ID: 0x01020304, At: begin.Add(40 * time.Second), Used: 29,
		Service: charging.Service{Context: "32260@3gpp.org", Rating: 1, Identifier: 9, Realm: "ocs.example", Requested: 30},
		Call: charging.Call{
			ID: "01HQ", SIPCallID: "abc@pbx", User: "pbx1", Outbound: true, Ingress: "acme-out", Begin: begin, Answered: begin.Add(7 * time.Second),
			Egress: "carrier-b", Carrier: "voxbeam", Account: charging.Account{Kind: charging.AccountPrivate, ID: "acme"},
		},
	}
	if kind == charging.Update {
		r.Report = charging.ReportExhausted
	}
	return r
}

// TestS101_S102_RequestRoundTrip: all that a request says is in the octets, among it both trunk groups.
func TestS101_S102_RequestRoundTrip(t *testing.T) {
	for _, kind := range []charging.Kind{charging.Initial, charging.Update, charging.Termination, charging.Start, charging.Interim, charging.Stop, charging.Event} {
		want := request(kind)
		if kind == charging.Initial || kind == charging.Start || kind == charging.Event {
			want.Used = 0
		}
		if kind == charging.Termination {
			want.Report, want.Service.Requested = charging.ReportFinal, 0
		}
		if !kind.Online() {
			want.Service.Rating, want.Service.Identifier, want.Service.Requested = 0, 0, 0
		}
		b := AppendRequest(nil, &want, id, To{Host: "ocs-1.example", Realm: "other"}, 5, want.ID)
		m, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseRequest(&m)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", kind, got, want)
		}
		if host, realm := m.Origin(); host != id.Host || realm != id.Realm || m.HopByHop != 5 || !m.Request() {
			t.Errorf("%s: origin %s, %s, header %+v", kind, host, realm, m.Header)
		}
	}
}

// TestS102_Octets: a DWR as RFC 6733 writes it, octet by octet.
func TestS102_Octets(t *testing.T) {
	got := AppendWatchdog(nil, &Identity{Host: "a.b", Realm: "b", State: 1}, 2, 3)
	const want = "01000038" + "80000118" + "00000000" + "00000002" + "00000003" + // header: 56 octets, DWR
		"00000108" + "4000000b" + "612e6200" + // Origin-Host, padded
		"00000128" + "40000009" + "62000000" + // Origin-Realm
		"00000116" + "4000000c" + "00000001" // Origin-State-Id
	if h := hex.EncodeToString(got); h != want {
		t.Errorf("got  %s\nwant %s", h, want)
	}
}

// TestS102_AnswerRoundTrip: what servers say, inside and outside of Multiple-Services-Credit-Control.
func TestS102_AnswerRoundTrip(t *testing.T) {
	r := request(charging.Update)
	m, err := Parse(AppendRequest(nil, &r, id, To{}, 5, 6))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []charging.Answer{
		{Result: 2001, Granted: 30, HasGrant: true},
		{Result: 2001, Service: 4012},
		{Result: 2001, Granted: 12, HasGrant: true, Last: true, Validity: 60, Threshold: 3, Fails: true, Failure: trunkgroup.ChargingContinue},
		{Result: 4012, Fails: true, Failure: trunkgroup.ChargingTerminate},
		{Result: 3004, Fails: true, Failure: trunkgroup.ChargingRetry},
	} {
		a, err := Parse(AppendAnswer(nil, id, &m, &r, &want))
		if err != nil {
			t.Fatal(err)
		}
		if got := ParseAnswer(&a); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	h := m.Header
	h.Flags = 0
	w := Begin(nil, h)
	w.Number(avpResultCode, 2001)
	w.Group(avpGrantedServiceUnit, func() { w.Number(avpCCTime, 17) })
	w.Number(avpValidityTime, 40)
	a, err := Parse(w.End())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ParseAnswer(&a), (charging.Answer{Result: 2001, Granted: 17, HasGrant: true, Validity: 40}); got != want {
		t.Errorf("outside of the service: got %+v, want %+v", got, want)
	}
}

// TestS102_CauseCode: how a call ended (TS 32.299 7.2.35).
func TestS102_CauseCode(t *testing.T) {
	answered := time.Unix(1, 0)
	for _, c := range []struct {
		call charging.Call
		want int32
	}{
		{charging.Call{Answered: answered, Code: 200}, 0},
		{charging.Call{Code: 486}, -486},
		{charging.Call{Code: 408}, -408},
		{charging.Call{Code: 487}, -487},
		{charging.Call{Answered: answered, Why: charging.NoCredit}, -402},
		{charging.Call{Code: 402, Why: charging.NoCredit}, -402},
		{charging.Call{Answered: answered, Why: charging.Fault}, -503},
	} {
		if got := causeCode(&c.call); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.call, got, c.want)
		}
	}
}

// TestS102_Malformed: no length is trusted.
func TestS102_Malformed(t *testing.T) {
	r := request(charging.Update)
	good := AppendRequest(nil, &r, id, To{}, 5, 6)
	for i := range good {
		if _, err := Parse(good[:i]); err == nil {
			t.Fatalf("the first %d of %d octets are a message", i, len(good))
		}
	}
	if _, err := Size([]byte{1, 0xff, 0xff, 0xfc}); !errors.Is(err, ErrLarge) {
		t.Errorf("a message of 16 MiB: %v", err)
	}
	if _, err := Size([]byte{2, 0, 0, 20}); !errors.Is(err, ErrVersion) {
		t.Errorf("version 2: %v", err)
	}
	bad := bytes.Clone(good)
	bad[20+5] = 0xff // the first AVP is longer than the message
	if _, err := Parse(bad); !errors.Is(err, ErrLength) {
		t.Errorf("an AVP that is too long: %v", err)
	}
}

// FuzzParse: what servers send makes no fault, and what we read of it is bounded.
func FuzzParse(f *testing.F) {
	r := request(charging.Update)
	good := AppendRequest(nil, &r, id, To{Host: "h", Realm: "r"}, 5, 6)
	f.Add(good)
	m, _ := Parse(good)
	f.Add(AppendAnswer(nil, id, &m, &r, &charging.Answer{Result: 2001, Granted: 30, HasGrant: true, Last: true, Validity: 5, Threshold: 2}))
	f.Add(AppendCapabilities(nil, id, netip.MustParseAddr("::1"), 1, 2))
	f.Add(AppendAsk(nil, id, "s", true, 1, 2))
	f.Add(AppendDisconnect(nil, id, 1, 2))
	stop := request(charging.Stop)
	f.Add(AppendRequest(nil, &stop, id, To{}, 1, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		a := ParseAnswer(&m)
		if a.Granted < 0 || a.Granted > maxSeconds || a.Validity > maxSeconds || a.Interim > maxSeconds {
			t.Fatalf("unbounded answer %+v", a)
		}
		Speaks(&m)
		if reply, err := Parse(AppendReply(nil, id, &m, 2001)); err != nil || reply.Session() != m.Session() {
			t.Fatalf("the reply cannot be read: %v", err)
		}
		r, err := ParseRequest(&m)
		if err != nil {
			return
		}
		if _, err := Parse(AppendRequest(nil, &r, id, To{}, 1, 2)); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
	})
}
