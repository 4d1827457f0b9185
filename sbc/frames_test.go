package sbc

import (
	"net/netip"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestEnvelopeRoundTrip(t *testing.T) {
	for _, e := range []envelope{
		{transport: trunkgroup.UDP, listener: 2, remote: netip.MustParseAddrPort("192.0.2.1:5060"), local: netip.MustParseAddrPort("[2001:db8::1]:5061")},
		{transport: trunkgroup.TLS, listener: -1, flow: 77},
	} {
		got, rest, err := readEnvelope(append(e.append(nil), "INVITE"...))
		if err != nil || got != e || string(rest) != "INVITE" {
			t.Errorf("%+v came back as %+v, rest %q, error %v", e, got, rest, err)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	e := envelope{transport: trunkgroup.UDP, remote: netip.MustParseAddrPort("192.0.2.1:5060")}
	f.Add(append(e.append(nil), "x"...))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, rest, err := readEnvelope(b)
		if err != nil {
			return
		}
		again, tail, err := readEnvelope(append(e.append(nil), rest...))
		if err != nil || again != e || string(tail) != string(rest) {
			t.Fatalf("%+v is no fixed point: %+v, %v", e, again, err)
		}
	})
}

func FuzzOpens(f *testing.F) {
	f.Add(appendOpen(appendOpen(nil, b2bua.Open{Key: 1, CallHash: 2, Branch: 3, State: b2bua.OpenBegun}), b2bua.Open{State: b2bua.OpenClosed}))
	f.Add(appendOpen(nil, b2bua.Open{Key: 1, State: b2bua.OpenParted}))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		err := readOpens(b, func(o b2bua.Open) {
			n++
			if o.State < b2bua.OpenBegun || o.State > b2bua.OpenParted {
				t.Fatalf("state %d", o.State)
			}
		})
		if n > len(b)/openLen || (err == nil) != (len(b)%openLen == 0) {
			t.Fatalf("%d entries of %d bytes, error %v", n, len(b), err)
		}
	})
}
