package guard

import (
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Listeners of the tests.
const (
	onUDP = iota
	onTCP
	onTLS
	onClosed
)

func testGuard(t testing.TB, change func(*Config)) (*Guard, *[]Offence) {
	t.Helper()
	offences := new([]Offence)
	cfg := Config{
		Listeners: []Listener{
			{},
			{Stream: true},
			{Stream: true, TLS: true},
			{ACL: trunkgroup.NewACL([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil)},
		},
		Allow:    []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")},
		Stranger: Rate{PerSecond: 10, Burst: 20}, Known: Rate{PerSecond: 100, Burst: 200},
		Signatures: DefaultSignatures(), Sources: 256, Start: t0,
		OnOffence: func(o Offence) { *offences = append(*offences, o) },
	}
	if change != nil {
		change(&cfg)
	}
	g := New(cfg)
	g.SetTrusted(trunkgroup.NewGateways(testTable(t), nil))
	return g, offences
}

func testTable(t testing.TB) *trunkgroup.Table {
	t.Helper()
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "acme", Role: trunkgroup.TerminationCustomer, Sources: []trunkgroup.SourceSpec{{IP: "192.0.2.0/24"}},
		}},
	}, trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func from(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

var good = []byte(text("Alice", "Phone"))

func passed(g *Guard, now time.Time, listener, n int, source string, raw []byte) (ok int) {
	for range n {
		if g.Message(now, listener, from(source), raw) {
			ok++
		}
	}
	return ok
}

func dropped(g *Guard) (n [causes]uint64) {
	g.Counters().Each(func(c Cause, messages, connections uint64) { n[c] = messages + connections })
	return n
}

func TestBucketsByKindOfSource(t *testing.T) {
	g, _ := testGuard(t, nil)
	g.Registered(netip.MustParseAddr("198.51.100.2"), t0.Add(time.Minute))
	g.Proved(netip.MustParseAddr("198.51.100.4"), t0)
	for _, c := range []struct {
		name, source string
		want         int
	}{
		{"stranger", "198.51.100.1:5060", 20},
		{"the same from another port", "198.51.100.1:5061", 0},
		{"registered", "198.51.100.2:5060", 200},
		{"digest user", "198.51.100.4:5060", 200},
		{"trunk", "192.0.2.1:5060", 1000},
		{"allow list", "203.0.113.9:5060", 1000},
	} {
		if got := passed(g, t0, onUDP, 1000, c.source, good); got != c.want {
			t.Errorf("%s: %d of 1,000 pass, want %d", c.name, got, c.want)
		}
	}
	if got := passed(g, t0.Add(2*time.Minute), onUDP, 1000, "198.51.100.2:5060", good); got != 20 {
		t.Errorf("after its registration an address gets %d through, want 20", got)
	}
	if got := dropped(g)[CauseBucket]; got != 980+1000+800+800+980 {
		t.Errorf("%d drops are counted", got)
	}
	if n := dropped(g); n[CauseACL]+n[CauseBan]+n[CauseScanner] != 0 {
		t.Errorf("other drops are counted: %v", n)
	}
}

func TestTrustedMayHaveABucketOfTheirOwn(t *testing.T) {
	g, _ := testGuard(t, func(c *Config) { c.Trusted = Rate{PerSecond: 50, Burst: 50} })
	if got := passed(g, t0, onUDP, 1000, "192.0.2.1:5060", good); got != 50 {
		t.Errorf("%d pass, want 50", got)
	}
}

func TestListenerACLComesFirst(t *testing.T) {
	g, _ := testGuard(t, nil)
	if passed(g, t0, onClosed, 1, "192.0.2.1:5060", good) != 0 || passed(g, t0, onClosed, 1, "10.1.2.3:5060", good) != 1 {
		t.Error("the access list of the listener does not hold")
	}
	if g.Connect(t0, onClosed, from("192.0.2.1:5060")) {
		t.Error("a connection came past the access list")
	}
	if got := dropped(g)[CauseACL]; got != 2 {
		t.Errorf("%d drops are counted, want 2", got)
	}
}

func TestBans(t *testing.T) {
	g, _ := testGuard(t, nil)
	g.Ban(Ban{Prefix: netip.MustParsePrefix("198.51.100.0/24"), Until: t0.Add(time.Hour)})
	g.Ban(Ban{Prefix: netip.MustParsePrefix("198.51.100.7/32"), Auto: true, Until: t0.Add(time.Minute)})
	g.Ban(Ban{Prefix: netip.MustParsePrefix("192.0.2.1/32"), Auto: true, Until: t0.Add(time.Hour)})
	g.Ban(Ban{Prefix: netip.MustParsePrefix("192.0.2.2/32"), Until: t0.Add(time.Hour)})
	for _, c := range []struct {
		name, source string
		after        time.Duration
		want         int
	}{
		{"in the network", "198.51.100.1:5060", 0, 0},
		{"its own ban", "198.51.100.7:5060", 0, 0},
		{"its own is over, the network's is not", "198.51.100.7:5060", 2 * time.Minute, 0},
		{"all is over", "198.51.100.7:5060", 2 * time.Hour, 1},
		{"outside", "198.51.101.1:5060", 0, 1},
		{"an automatic ban of who is a trunk now", "192.0.2.1:5060", 0, 1},
		{"an operator's ban of a trunk", "192.0.2.2:5060", 0, 0},
	} {
		if got := passed(g, t0.Add(c.after), onUDP, 1, c.source, good); got != c.want {
			t.Errorf("%s: %d pass, want %d", c.name, got, c.want)
		}
	}
	g.Ban(Ban{Prefix: netip.MustParsePrefix("203.0.113.0/24"), Until: t0.Add(time.Hour)})
	if passed(g, t0, onUDP, 1, "203.0.113.7:5060", good) != 1 {
		t.Error("the allow list is banned")
	}
	g.Lift(netip.MustParsePrefix("203.0.113.0/24"))
	allowed, far := g.Spared(netip.MustParsePrefix("192.0.0.0/8"))
	if len(allowed) != 0 || len(far) != 1 || far[0] != netip.MustParsePrefix("192.0.2.0/24") {
		t.Errorf("Spared = %v, %v", allowed, far)
	}
	if allowed, far = g.Spared(netip.MustParsePrefix("203.0.113.7/32")); len(allowed) != 1 || len(far) != 0 {
		t.Errorf("Spared = %v, %v", allowed, far)
	}
	if g.Connect(t0, onTCP, from("198.51.100.7:5060")) {
		t.Error("a banned source may connect")
	}
	if b, ok := g.Banned(netip.MustParseAddr("198.51.100.7"), t0); !ok || b.Prefix.Bits() != 32 {
		t.Errorf("Banned = %+v, %v", b, ok)
	}
	if got := len(g.Bans(t0)); got != 4 {
		t.Errorf("%d bans are listed, want 4", got)
	}
	g.Sweep(t0.Add(2 * time.Minute))
	if got := g.bans.tree.Load().Size(); got != 3 {
		t.Errorf("%d bans are left, want 3", got)
	}
	if !g.Lift(netip.MustParsePrefix("198.51.100.0/24")) || g.Lift(netip.MustParsePrefix("198.51.100.0/24")) {
		t.Error("Lift does not tell what it did")
	}
	if got := passed(g, t0.Add(2*time.Minute), onUDP, 1, "198.51.100.1:5060", good); got != 1 {
		t.Error("a ban holds after it was lifted")
	}
}

// Unproven UDP sources are dropped, never banned, for what anybody may have sent in
// their name.
func TestOnlyConnectionsOffend(t *testing.T) {
	g, offences := testGuard(t, nil)
	scan := []byte(text("sipvicious", "friendly-scanner"))
	if passed(g, t0, onUDP, 1, "198.51.100.1:5060", scan) != 0 || len(*offences) != 0 {
		t.Errorf("a datagram of a scanner: %v", *offences)
	}
	g.Malformed(t0, onUDP, from("198.51.100.1:5060"))
	g.Refused(t0, netip.MustParseAddr("198.51.100.1"), false)
	if len(*offences) != 0 {
		t.Errorf("what can be forged counts: %v", *offences)
	}
	passed(g, t0, onTCP, 1, "198.51.100.1:5060", scan)
	g.Malformed(t0, onTCP, from("198.51.100.1:5060"))
	g.Refused(t0, netip.MustParseAddr("198.51.100.1"), true)
	want := []Offence{
		{netip.MustParseAddr("198.51.100.1"), ReasonScanner, atOnce},
		{netip.MustParseAddr("198.51.100.1"), ReasonMalformed, 1},
		{netip.MustParseAddr("198.51.100.1"), ReasonDigest, 1},
	}
	if len(*offences) != 3 || (*offences)[0] != want[0] || (*offences)[1] != want[1] || (*offences)[2] != want[2] {
		t.Errorf("offences %v, want %v", *offences, want)
	}
	*offences = nil
	g.Registered(netip.MustParseAddr("198.51.100.3"), t0.Add(time.Hour))
	for _, source := range []string{"198.51.100.3", "203.0.113.1", "192.0.2.1"} {
		passed(g, t0, onTCP, 1, source+":5060", scan)
		g.Malformed(t0, onTCP, from(source+":5060"))
		g.Refused(t0, netip.MustParseAddr(source), true)
	}
	if len(*offences) != 0 {
		t.Errorf("known and trusted sources offend: %v", *offences)
	}
}

// A guesser behind the address of a registered phone is not banned with it: his guesses
// empty the bucket of both.
func TestGuessesBehindARegistrationAreSlow(t *testing.T) {
	g, offences := testGuard(t, nil)
	phone := netip.MustParseAddr("198.51.100.5")
	g.Registered(phone, t0.Add(time.Hour))
	guesses := 0
	for ms := range 10_000 {
		now := t0.Add(time.Duration(ms) * time.Millisecond)
		if g.Message(now, onUDP, netip.AddrPortFrom(phone, 5060), good) {
			guesses++
			g.Refused(now, phone, true)
		}
	}
	if len(*offences) != 0 || guesses > 30 {
		t.Errorf("%d offences, %d guesses in ten seconds", len(*offences), guesses)
	}
	g.Proved(netip.MustParseAddr("198.51.100.6"), t0)
	if g.Refused(t0, netip.MustParseAddr("198.51.100.6"), true); len(*offences) != 1 {
		t.Error("who proved himself once may guess")
	}
}

func TestConnectionsCostMore(t *testing.T) {
	g, _ := testGuard(t, nil)
	n := 0
	for g.Connect(t0, onTCP, from("198.51.100.1:1")) {
		n++
	}
	for g.Connect(t0, onTLS, from("198.51.100.2:1")) {
		n++
	}
	if want := 20/connectCost + 20/handshakeCost; n != want {
		t.Errorf("%d connections at once, want %d", n, want)
	}
}

func TestTheWayInAllocatesNothing(t *testing.T) {
	g, _ := testGuard(t, nil)
	g.Ban(Ban{Prefix: netip.MustParsePrefix("198.18.0.0/15"), Until: t0.Add(time.Hour)})
	for _, source := range []string{"192.0.2.1:5060", "198.51.100.1:5060", "198.18.0.1:5060", "[2001:db8::1]:5060"} {
		a := from(source)
		if n := testing.AllocsPerRun(100, func() { g.Message(t0, onUDP, a, good) }); n != 0 {
			t.Errorf("a message from %s allocates %v times", source, n)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	for name, source := range map[string]string{"trusted": "192.0.2.1:5060", "stranger": "198.51.100.1:5060", "banned": "198.18.0.1:5060"} {
		b.Run(name, func(b *testing.B) {
			g, _ := testGuard(b, func(c *Config) { c.Stranger, c.Sources = Rate{PerSecond: 1 << 16, Burst: 1 << 30}, 1<<16 })
			g.Ban(Ban{Prefix: netip.MustParsePrefix("198.18.0.0/15"), Until: t0.Add(time.Hour)})
			a := from(source)
			b.ReportAllocs()
			for b.Loop() {
				g.Message(t0, onUDP, a, good)
			}
		})
	}
}

// A caller chooses his name, and a phone that is called says it back: that must not
// end the phone's connection. Neither must what a PBX of ours forwards.
func TestNamesOfOthersCutNobodyOff(t *testing.T) {
	g, offences := testGuard(t, nil)
	phone := from("198.51.100.7:5060")
	ringing := []byte("SIP/2.0 180 Ringing\r\nFrom: \"sipvicious\" <sip:a@b>;tag=1\r\nUser-Agent: Phone\r\n\r\n")
	if !g.Message(t0, onTLS, phone, ringing) {
		t.Error("an answer is dropped for its caller's name")
	}
	forwarded := []byte(text("sipvicious", "PBX"))
	if g.Message(t0, onUDP, phone, forwarded) {
		t.Error("a stranger with a scanner's name comes in")
	}
	g.Proved(phone.Addr(), t0)
	if !g.Message(t0, onTLS, phone, forwarded) {
		t.Error("a call of a digest user is dropped for its caller's name")
	}
	if g.Message(t0, onTLS, phone, []byte(text("x", "friendly-scanner"))) {
		t.Error("a scanner beside a digest user comes in")
	}
	if len(*offences) != 1 {
		t.Errorf("%d offences, want that of the scanner", len(*offences))
	}
}

// Whoever forges datagrams of a source spends what its datagrams may, and closes no
// connection of it.
func TestForgedDatagramsCloseNoConnection(t *testing.T) {
	for _, c := range []struct {
		name string
		note func(*Guard, netip.AddrPort)
	}{
		{"a stranger", func(*Guard, netip.AddrPort) {}},
		{"a registered phone", func(g *Guard, a netip.AddrPort) { g.Registered(a.Addr(), t0.Add(time.Hour)) }},
		{"a digest user", func(g *Guard, a netip.AddrPort) { g.Proved(a.Addr(), t0) }},
	} {
		g, _ := testGuard(t, nil)
		office := from("198.51.100.9:5061")
		c.note(g, office)
		for g.Message(t0, onUDP, office, good) {
		}
		if !g.Connect(t0, onTLS, office) || !g.Message(t0, onTLS, office, good) || !g.Message(t0, onTCP, office, good) {
			t.Errorf("%s: its connection is closed for forged datagrams", c.name)
		}
	}
}

// The /64 of a stranger may hold a far end: the ban does not hold for it.
func TestBansOfNetworksWithSparedAddresses(t *testing.T) {
	g, _ := testGuard(t, func(c *Config) { c.Allow = []netip.Prefix{netip.MustParsePrefix("2001:db8:1::5/128")} })
	for _, c := range []struct {
		prefix      string
		auto, spare bool
	}{
		{"2001:db8:1::/64", true, true},
		{"2001:db8:1::/64", false, true}, // doors.allow holds against operators too
		{"2001:db8:2::/64", true, false},
		{"192.0.2.7/32", true, true},
		{"192.0.2.7/32", false, false},
		{"198.51.100.7/32", true, false},
	} {
		if got := g.Spares(&Ban{Prefix: netip.MustParsePrefix(c.prefix), Auto: c.auto}); got != c.spare {
			t.Errorf("%s, auto %v: spares %v", c.prefix, c.auto, got)
		}
	}
}

// A far end that was dialled meets bans, buckets and signatures like one that came in,
// and no listener's access list.
func TestDialledFarEnds(t *testing.T) {
	g, offences := testGuard(t, func(c *Config) { c.Listeners = c.Listeners[onClosed:] })
	const outward = -1
	rogue := from("198.51.100.7:5070")
	if n := passed(g, t0, outward, 100, "198.51.100.8:5060", good); n != 20 {
		t.Errorf("%d messages of a stranger pass, want 20", n)
	}
	if !g.Message(t0, outward, rogue, good) || g.Message(t0, outward, rogue, []byte(text("x", "friendly-scanner"))) {
		t.Error("a message is dropped, or a scanner's is not")
	}
	g.Malformed(t0, outward, rogue)
	if len(*offences) != 2 {
		t.Errorf("%+v", *offences)
	}
	g.Ban(Ban{Prefix: sourceOf(rogue.Addr()), Auto: true, Until: t0.Add(time.Hour)})
	if g.Message(t0, outward, rogue, good) {
		t.Error("who is banned speaks by a connection that was dialled")
	}
}
