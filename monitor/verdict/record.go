package verdict

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Key names a probed target: a member, and one of its addresses when it is configured by name.
type Key struct {
	Member string         // "group/member"
	Addr   netip.AddrPort // zero for a member that is configured by address
}

// KeyOf names a member at an address.
func KeyOf(m *trunkgroup.Member, addr netip.AddrPort) Key {
	if m.FQDN == "" {
		return Key{Member: m.Key}
	}
	return Key{Member: m.Key, Addr: addr}
}

// String is the form that names a record between nodes: "group/member" or "group/member@address:port".
func (k Key) String() string {
	if !k.Addr.IsValid() {
		return k.Member
	}
	return k.Member + "@" + k.Addr.String()
}

// ParseKey reads what String writes.
func ParseKey(s string) (Key, error) {
	member, addr, named := strings.Cut(s, "@")
	if !strings.Contains(member, "/") {
		return Key{}, fmt.Errorf("verdict: %q names no member", s)
	}
	if !named {
		return Key{Member: member}, nil
	}
	a, err := netip.ParseAddrPort(addr)
	if err != nil {
		return Key{}, fmt.Errorf("verdict: target %q: %w", s, err)
	}
	return Key{Member: member, Addr: a}, nil
}

// Record is what one observer found out about one target. Times are ages at the moment of publishing, so that no clock but the reader's
// own counts.
type Record struct {
	Key  Key
	Node string // the observer
	Boot uint64 // the observer's boot number
	Seq  uint64 // rises with each record of this boot

	State   trunkgroup.State // by probes and evidence; never an operator's word
	Age     time.Duration    // in this state
	OutAge  time.Duration    // since the target stopped getting calls; 0 while it gets them
	Reason  string
	Changes uint64 // changes of state, which tells a flapping member

	Kind     trunkgroup.ProbeKind // last probe; 0 = none yet
	Code     int                  // its code, when Kind is Reply
	RTT      time.Duration
	ProbeAge time.Duration
	GoodAge  time.Duration // since the last good probe; 0 = none yet

	Latency trunkgroup.RoundTrips // of its probes; the zero value from an older build
	Flaps   int                   // how often it stopped getting calls within the last hour
}

// newer says whether r replaces an older record of the same observer.
func (r *Record) newer(than *Record) bool {
	if r.Boot != than.Boot {
		return r.Boot > than.Boot
	}
	return r.Seq > than.Seq
}
