package guard

import (
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestLookSeesWhatMessageWouldDo(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	closed := trunkgroup.NewACL([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, nil)
	g := New(Config{
		Listeners: []Listener{{}, {ACL: closed}}, Allow: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")},
		Stranger: Rate{1, 3}, Known: Rate{10, 20}, Start: now,
	})
	stranger, friend := netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("192.0.2.1")
	if s := g.Look(now, 1, stranger); !s.Dropped || s.Cause != CauseACL {
		t.Errorf("acl: %+v", s)
	}
	if s := g.Look(now, 1, friend); s.Dropped || s.Kind != "trusted" || s.Burst != 0 {
		t.Errorf("a friend: %+v", s)
	}
	for left := 3; left >= 0; left-- {
		s := g.Look(now, 0, stranger)
		if s.Kind != "stranger" || s.Left != left || s.Burst != 3 || s.Dropped != (left == 0) {
			t.Errorf("%d left: %+v", left, s)
		}
		if ok := g.Message(now, 0, netip.AddrPortFrom(stranger, 5060), []byte("OPTIONS sip:x SIP/2.0\r\n")); ok == s.Dropped {
			t.Errorf("%d left: the message passes: %v", left, ok)
		}
	}
	g.Proved(stranger, now)
	if s := g.Look(now, 0, stranger); s.Kind != "known" || s.Left != 20 {
		t.Errorf("proved: %+v", s)
	}
	g.Ban(Ban{Prefix: netip.MustParsePrefix("203.0.113.0/24"), By: "noc", Until: now.Add(time.Hour)})
	if s := g.Look(now, 0, stranger); !s.Dropped || s.Cause != CauseBan || s.Ban.By != "noc" {
		t.Errorf("banned: %+v", s)
	}
}
