package b2bua

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestDraftIsTheMessageThatItDescribes(t *testing.T) {
	d := Draft{
		RequestURI: "sip:+12145550100;npdi@203.0.113.1:5060;transport=tcp", Caller: "+13105551234", CallID: "abc@x", Transport: trunkgroup.TCP,
		Source: netip.MustParseAddrPort("192.0.2.10:5060"), Headers: []string{"X-Room-Id: 7", "P-Asserted-Identity: <sip:+1@x>"},
	}
	m, err := d.Message()
	if err != nil {
		t.Fatal(err)
	}
	if string(m.CallID()) != "abc@x" || string(valueOf(m, "x-room-id")) != "7" || callerNumber(m) != "+13105551234" {
		t.Errorf("\n%s", m.Raw())
	}
	i := Inquiry{Message: m}
	var q trunkgroup.Query
	if err := i.Ask(&q); err != nil || string(q.Called) != "+12145550100;npdi" || string(q.Host) != "203.0.113.1" || q.Secure {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestDraftRefusesWhatNoMessageSays(t *testing.T) {
	for name, d := range map[string]Draft{
		"no URI":            {RequestURI: "+12145550100"},
		"another line":      {RequestURI: "sip:a@b", Headers: []string{"X: 1\r\nRoute: <sip:evil>"}},
		"no colon":          {RequestURI: "sip:a@b", Headers: []string{"X-Room-Id"}},
		"a header of ours":  {RequestURI: "sip:a@b", Headers: []string{"call-id: x"}},
		"too many headers":  {RequestURI: "sip:a@b", Headers: make([]string, maxDraftHeaders+1)},
		"a long caller":     {RequestURI: "sip:a@b", Caller: strings.Repeat("1", maxDraftLine+1)},
		"a space in it":     {RequestURI: "sip:a@b SIP/2.0"},
		"a caller with tag": {RequestURI: "sip:a@b", CallID: "x y"},
	} {
		if m, err := d.Message(); err == nil {
			t.Errorf("%s:\n%s", name, m.Raw())
		}
	}
}

func FuzzDraft(f *testing.F) {
	f.Add("sip:a@b", "+1", "x", "X-Room-Id: 7")
	f.Add("tel:+12145550100", "", "", "Accept: a")
	f.Fuzz(func(t *testing.T, uri, caller, callID, header string) {
		d := Draft{RequestURI: uri, Caller: caller, CallID: callID, Headers: []string{header}}
		m, err := d.Message()
		if err != nil {
			return
		}
		if strings.Count(string(m.Raw()), "\r\nCall-ID:") != 1 || string(m.RequestURI()) != uri {
			t.Fatalf("\n%s", m.Raw())
		}
		var q trunkgroup.Query
		_ = (&Inquiry{Message: m}).Ask(&q)
	})
}
