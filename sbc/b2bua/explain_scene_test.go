package b2bua

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sessions"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// sceneTime is when all calls begin.
var sceneTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// scene is a random document with a random view of it.
type scene struct {
	dice
	t      testing.TB
	table  *trunkgroup.Table
	view   *trunkgroup.View
	memory *memory
	peerUp bool
	// peerTries: the peer site takes calls that are handed over, and its members fail too;
	// else its node is lost when it is asked.
	peerTries bool
	from      []string // addresses that somebody calls from
	known     []string // those of them that are sources
	calls     int
	// Those whose calls are likely to find a group: addresses of carriers and the numbers
	// that they reach, customers, and users that register.
	carriers, owned    []string
	outs               []customer
	registrants, users []string
}

// customer is somebody who calls the carriers.
type customer struct{ from, prefix, user string }

// memory remembers far ends, and nothing is learned.
type memory map[string]string

func (m *memory) Remembered(_ time.Time, key string) string          { return (*m)[key] }
func (m *memory) Remember(time.Time, string, string, time.Duration)  {}
func (m *memory) Enter(*trunkgroup.Member, *trunkgroup.Binding) Seat { return nil }
func (s *scene) Sessions(m *trunkgroup.Member, b *trunkgroup.Binding) int {
	return int(hash2(7, []byte(trunkgroup.FarEnd(m, b)), nil) % 4)
}

// newScene makes the scene of a seed.
func newScene(t *testing.T, seed uint64) *scene {
	t.Helper()
	for try := range uint64(50) {
		s := &scene{t: t, dice: dice{rand.New(rand.NewPCG(seed, try))}, memory: &memory{}}
		var err error
		if s.table, err = trunkgroup.Compile(s.document(), trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1}); err != nil {
			if try == 49 {
				t.Fatal(err)
			}
			continue // two sources that are one, say
		}
		s.table = s.table.WithNumbers(s.numbers())
		s.look()
		return s
	}
	return nil
}

// numbers makes the number table beside the document: of groups that are there, that are
// none and that own no numbers.
func (s *scene) numbers() *trunkgroup.NumberTable {
	if s.chance(50) {
		return nil
	}
	var changes []trunkgroup.NumberChange
	for _, number := range []string{"+12145557777", "+12025550100", "+1202555*", "+14695550000..+14695550009", "+13035550100", "+17185550100..+17185550109"} {
		p, err := trunkgroup.ParsePattern(number)
		if err != nil {
			s.t.Fatal(err)
		}
		changes = append(changes, trunkgroup.NumberChange{Pattern: p, Group: pick(s.dice, "in-0", "in-0", "in-1", "in-2", "gone", "carrier-0")})
	}
	n, err := (*trunkgroup.NumberTable)(nil).With(changes)
	if err != nil {
		s.t.Fatal(err)
	}
	s.owned = append(s.owned, "+12025550100", "+12025550199", "+17185550105", "+14695550001")
	return n
}

// newWorldOn is a world over a table that is there already.
func newWorldOn(t testing.TB, table *trunkgroup.Table, m Sessions) *world {
	w := &world{
		t: t, now: sceneTime, turns: map[string]uint64{}, down: map[string]bool{},
		table: table, seats: sessions.NewTable(), limits: limit.NewSet(),
	}
	w.queue = limit.NewQueue(w.limits, 100)
	w.limits.Replace(metersOf(table, w.now, limit.Unlimited))
	verifier, err := auth.New(bytes.Repeat([]byte("k"), 32), "sip.example.com", auth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key := bytes.Repeat([]byte("x"), 32)
	w.s = New(Config{
		Sessions: m, Node: "dal-1", Site: "dallas", Boot: 1,
		Listeners: []Listener{
			{Transport: trunkgroup.UDP, Advertise: "203.0.113.1:5060"},
			{Transport: trunkgroup.TCP, Advertise: "203.0.113.1:5060"},
		},
		Minter: mint.New(key, mint.NodeID("dal-1"), 1), Verifier: verifier, HandoffKey: key,
	}, w, w.now)
	return w
}

// look makes the view: what a node has heard and been told.
func (s *scene) look() {
	v := trunkgroup.NewView(s.table)
	s.peerUp, s.peerTries = s.chance(75), s.chance(50)
	for _, site := range s.table.Sites() {
		v.Panic[site] = s.chance(10)
	}
	registry := bindings{}
	v.Barred, v.Ramps = make([]string, len(v.States)), make([]uint8, len(v.States))
	v.Latency = make([]time.Duration, len(v.States))
	for i, m := range s.table.Members() {
		if m.Registration != nil {
			registry[m.Registration.AOR] = s.bindings(m)
			continue
		}
		s.state(v, i, m)
		for _, value := range []string{"red", "blue"} {
			if m.Group.AffinityHeader != "" && (m.Site == "ashburn" && s.chance(70) || s.chance(30)) {
				key, _ := Affinity(0, m.Group, []byte(value))
				(*s.memory)[key] = m.Key
			}
		}
	}
	v.Registry, v.Sessions = registry, s
	s.view = v
}

// state makes what is known of one member.
func (s *scene) state(v *trunkgroup.View, i int, m *trunkgroup.Member) {
	if !m.Disabled && m.Group.Monitoring.Enabled || s.chance(5) {
		v.States[i] = pick(s.dice, trunkgroup.Unknown, trunkgroup.Active, trunkgroup.Active, trunkgroup.Active,
			trunkgroup.Down, trunkgroup.Probation, trunkgroup.Cooldown, trunkgroup.Draining, trunkgroup.Disabled)
	}
	if m.FQDN != "" {
		for n := range s.IntN(3) {
			v.Addrs[i] = append(v.Addrs[i], netip.MustParseAddrPort(fmt.Sprintf("198.18.%d.%d:5060", i, n)))
		}
	}
	if s.chance(10) {
		v.Weigh(m, 1+s.IntN(9))
	}
	if m.Group.Quality != nil && s.chance(20) {
		v.Bar(m, trunkgroup.CauseQuality)
	}
	if w, _ := m.UnderMaintenance(sceneTime); w != nil {
		v.States[i] = trunkgroup.Draining
	}
	if s.chance(10) {
		v.Ramps[i] = uint8(10 * (1 + s.IntN(9)))
	}
	v.Latency[i] = time.Duration(s.IntN(5)) * 10 * time.Millisecond
}

func (s *scene) bindings(m *trunkgroup.Member) []*trunkgroup.Binding {
	var list []*trunkgroup.Binding
	for n := range s.IntN(4) {
		addr := fmt.Sprintf("198.51.101.%d:%d", 5*m.Index+n, 5060+n)
		b := conference(pick(s.dice, "dallas", "dallas", "ashburn"), fmt.Sprint(n), addr)
		b.AOR, b.Q, b.Sessions = m.Registration.AOR, pick(s.dice, 1000, 1000, 500), s.IntN(4)-1
		b.User = m.Registration.Users[0]
		list = append(list, b)
	}
	return list
}

// foreign asks a shard about a host.
func (s *scene) foreign(digest bool, host []byte) bool {
	return newWorldOn(s.t, s.table, s.memory).s.Foreign(s.table, netip.AddrPort{}, digest, host)
}

// asking is one call.
type asking struct {
	n            int
	from         netip.AddrPort
	called, host string
	user, room   string
	caller       string // in From
	proven       bool
	code         int // that every far end answers; 0: none of them says a word
}

func (c asking) String() string {
	return fmt.Sprintf("%q@%s from %s at %s (%s), room %q, all say %d", c.called, c.host, c.caller, c.from, c.user, c.room, c.code)
}

func (c *asking) uri() string {
	if c.host != "" {
		return "sip:" + c.called + "@" + c.host
	}
	return "sip:" + c.called + "@203.0.113.1"
}

// text is the INVITE of the call.
func (c *asking) text(extra string) string {
	i := invite{called: c.called, host: c.from.String(), callID: fmt.Sprintf("call-%d", c.n), branch: fmt.Sprintf("z9hG4bK%d", c.n), lines: extra, body: offer}
	if extra != "" {
		i.seq, i.branch = 2, i.branch+"b"
	}
	if c.room != "" {
		i.lines += "X-Room-Id: " + c.room + "\r\n"
	}
	text := strings.Replace(i.String(), "<sip:+13105551234@", "<sip:"+c.caller+"@", 1)
	return strings.Replace(text, "INVITE sip:"+c.called+"@203.0.113.1 ", "INVITE "+c.uri()+" ", 1)
}

// call makes a call of somebody to somebody.
func (s *scene) call() asking {
	s.calls++
	c := asking{n: s.calls, room: pick(s.dice, "", "red", "blue"), from: netip.MustParseAddrPort(strangerAddr)}
	c.code = pick(s.dice, 503, 503, 503, 503, 503, 486, 404, 500, 603, 408, 0, 0)
	c.caller = pick(s.dice, "+13105551234", "+13105551234", "3105551234", "13105550199", "anonymous")
	switch kind := s.IntN(100); {
	case kind < 14:
		s.wild(&c)
	case kind < 26 && len(s.registrants) > 0: // a registered user calls one of his own
		c.user, c.called, c.host = pick(s.dice, s.registrants...), pick(s.dice, s.registrants...), "sip.local"
	case kind < 60 && len(s.carriers) > 0:
		c.from, c.called = netip.MustParseAddrPort(pick(s.dice, s.carriers...)), pick(s.dice, s.owned...)
	default:
		o := pick(s.dice, s.outs...)
		c.from, c.user = netip.MustParseAddrPort(o.from), o.user
		c.called = o.prefix + pick(s.dice, "+13105550123", "+12145550100", "+442079460000", "+12145550100;npdi;rn=+14695550001", "911")
	}
	return c
}

// wild is a call of anybody to anybody.
func (s *scene) wild(c *asking) {
	c.from = netip.MustParseAddrPort(pick(s.dice, s.from...))
	if s.chance(60) { // somebody whom the document knows
		c.from = netip.MustParseAddrPort(pick(s.dice, s.known...))
	}
	if len(s.users) > 0 && s.chance(15) {
		c.user, c.from = pick(s.dice, s.users...), netip.MustParseAddrPort(strangerAddr)
	}
	c.called = pick(s.dice, "+12145550100", "+12145550199", "+12145557777", "+14695550001", "+13105550123", "2145550100", "12145550150",
		"0114420555501", "+442079460000", "911", "nonsense", "9001+12145550100", "90012145550101", "+12145550100;npdi;rn=+14695550001", "9001", "pbx0", "+19725550100")
	if c.called == "pbx0" {
		c.host = "sip.local"
	}
}

const scenePassword = "secret"

func (s *scene) credential(user, override string) trunkgroup.CredentialSpec {
	s.users = append(s.users, user)
	sum := md5.Sum([]byte(user + ":sip.example.com:" + scenePassword))
	c := trunkgroup.CredentialSpec{Username: user, Realm: "sip.example.com", HA1MD5: hex.EncodeToString(sum[:]), ANIOverride: override}
	if s.chance(8) {
		c.BoundIP = []string{"203.0.113.99"}
	}
	return c
}
