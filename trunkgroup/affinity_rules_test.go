package trunkgroup

import "testing"

// C11: a header that keeps calls together is allowed beside any method. A call with
// it goes to whoever has the fewest calls, one without it by the group's method.
func TestC11_AffinityBesideRoundRobin(t *testing.T) {
	d := poolDocument(RoundRobin, 1, 1, 1)
	d.TrunkGroups[0].Distribution.SessionAffinityHeader = "X-Room-Id"
	table := compile(t, d) // which would refuse it for any fault
	v, g := NewView(table), table.Group("pool")
	v.Sessions = counted{"pool/m0": 2, "pool/m1": 0, "pool/m2": 1}
	for turn, want := range []string{"m0 m1 m2", "m1 m2 m0", "m2 m0 m1"} {
		if got := order(Plan(nil, g, "dallas", v, Draw{Turn: uint64(turn)})); got != want {
			t.Errorf("turn %d without a value: %s, want %s", turn, got, want)
		}
		if got := order(Plan(nil, g, "dallas", v, Draw{Turn: uint64(turn), Affinity: 7})); got != "m1 m2 m0" {
			t.Errorf("turn %d with a value: %s, want who has the fewest calls first", turn, got)
		}
	}
}

// counted are calls by member.
type counted map[string]int

// Sessions implements SessionCounter.
func (c counted) Sessions(m *Member, _ *Binding) int { return c[m.Key] }

// which addresses of record there are.
func TestR20_SchemesOfAddressesOfRecord(t *testing.T) {
	for _, text := range []string{"sip:conference@sip.local", "SIP:conference@SIP.local:5060", "sips:conference@sip.local;transport=tls"} {
		if aor, _, _, err := ParseAOR(text); err != nil || aor != "sip:conference@sip.local" {
			t.Errorf("%s is %q, %v", text, aor, err)
		}
	}
	for _, text := range []string{"tel:+12145550100", "http://sip.local", "conference@sip.local", "sip:sip.local", "sip:@sip.local", "backend:aor-01"} {
		if aor, _, _, err := ParseAOR(text); err == nil {
			t.Errorf("%s is %q", text, aor)
		}
	}
}
