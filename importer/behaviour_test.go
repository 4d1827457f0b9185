package importer

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/lab/dispatcher"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// planned is the group of an imported list of one set, and the view of a node that
// has heard nothing else.
type planned struct {
	g    *trunkgroup.Group
	v    *trunkgroup.View
	p    trunkgroup.Planner
	dst  []trunkgroup.Candidate
	site string
}

func plannedOf(t interface {
	Helper()
	Fatal(args ...any)
}, algorithm int, rows string, o KamailioOptions,
) *planned {
	t.Helper()
	o.Algorithm = &algorithm
	r, err := Kamailio([]Input{{Name: "list", Text: []byte(rows)}}, o)
	if err != nil {
		t.Fatal(err)
	}
	table, err := trunkgroup.Compile(r.Document, trunkgroup.Version{Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &planned{g: table.Groups()[0], v: trunkgroup.NewView(table), site: r.site()}
}

// order is the try-order of one call, by ids.
func (x *planned) order(d trunkgroup.Draw) []string {
	x.dst = x.p.Plan(x.dst[:0], x.g, x.site, x.v, d)
	var out []string
	for _, c := range x.dst {
		if c.Dialable {
			out = append(out, c.Member.ID)
		}
	}
	return out
}

// row is a destination of the model of Kamailio.
type row struct {
	id       string
	port     int
	priority int
	weight   int
	off      bool
}

// listOf draws a list of one set and returns it as text and as Kamailio holds it.
func listOf(t *rapid.T) (text string, held []row) {
	n := rapid.IntRange(1, 9).Draw(t, "destinations")
	var b strings.Builder
	for i := range n {
		r := row{
			id: fmt.Sprintf("m%d", i), port: 6000 + i, priority: rapid.IntRange(0, 3).Draw(t, "priority"),
			weight: rapid.IntRange(1, 100/n).Draw(t, "weight"), off: n > 1 && rapid.IntRange(0, 3).Draw(t, "off") == 0,
		}
		flags := 0
		if r.off {
			flags = flagDisabled
		}
		fmt.Fprintf(&b, "1 sip:198.51.100.1:%d %d %d duid=%s;weight=%d;rweight=%d\n", r.port, flags, r.priority, r.id, r.weight, r.weight)
		// ds: in front of all of the same and of lower priority.
		at := slices.IndexFunc(held, func(o row) bool { return o.priority <= r.priority })
		if at < 0 {
			at = len(held)
		}
		held = slices.Insert(held, at, r)
	}
	return b.String(), held
}

// active are the ids of those that get calls.
func active(held []row) []string {
	var out []string
	for _, r := range held {
		if !r.off {
			out = append(out, r.id)
		}
	}
	return out
}

// TestD14_OrdersOfKamailio runs an imported list as Kamailio would: serial goes by
// the order that it holds, turns go round in that order, exact hashes fall on the
// same entry and walk on as there, and every method tries all that get calls.
func TestD14_OrdersOfKamailio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, held := listOf(t)
		want := active(held)
		if got := plannedOf(t, dsSerial, text, KamailioOptions{}).order(trunkgroup.Draw{}); !slices.Equal(got, want) {
			t.Fatalf("serial tries %v, Kamailio %v:\n%s", got, want, text)
		}
		turns := plannedOf(t, dsRoundRobin, text, KamailioOptions{})
		for turn := range 2 * len(want) {
			next := append(slices.Clone(want[turn%len(want):]), want[:turn%len(want)]...)
			if got := turns.order(trunkgroup.Draw{Turn: uint64(turn)}); !slices.Equal(got, next) {
				t.Fatalf("turn %d tries %v, want %v:\n%s", turn, got, next, text)
			}
		}
		exact := plannedOf(t, 0, text, KamailioOptions{ExactHash: true})
		for i := range 20 {
			key := []byte(fmt.Sprintf("%d@example.net", i))
			if got, want := exact.order(trunkgroup.Draw{Traits: &trunkgroup.Traits{CallID: key}}), walk(held, key); !slices.Equal(got, want) {
				t.Fatalf("key %s tries %v, Kamailio %v:\n%s", key, got, want, text)
			}
		}
		spared := plannedOf(t, 0, text, KamailioOptions{ExactHash: true, Params: map[string]string{"use_default": "1"}})
		for i := range 20 {
			key := []byte(fmt.Sprintf("%d@example.net", i))
			if got, want := spared.order(trunkgroup.Draw{Traits: &trunkgroup.Traits{CallID: key}}), walkWithDefault(held, key); !slices.Equal(got, want) {
				t.Fatalf("with use_default key %s tries %v, Kamailio %v:\n%s", key, got, want, text)
			}
		}
		all := slices.Sorted(slices.Values(want))
		for _, algorithm := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 64, 99} {
			got := plannedOf(t, algorithm, text, KamailioOptions{}).order(trunkgroup.Draw{Turn: 7, Random: 3, Traits: &trunkgroup.Traits{CallID: []byte("x")}})
			if slices.Sort(got); !slices.Equal(got, all) {
				t.Fatalf("algorithm %d tries %v of %v:\n%s", algorithm, got, all, text)
			}
		}
	})
}

// walk is what ds_select_dst does with a hash: the entry at the remainder, or the
// next one that gets calls, and the others from there on.
func walk(held []row, key []byte) []string {
	var out []string
	begin := int(trunkgroup.KamailioHash(key, nil) % uint32(len(held)))
	for i := range held {
		if r := held[(begin+i)%len(held)]; !r.off {
			out = append(out, r.id)
		}
	}
	return out
}

// walkWithDefault is walk with use_default: the last entry has no keys, and comes
// after all others (K-21).
func walkWithDefault(held []row, key []byte) []string {
	last := len(held) - 1
	if last == 0 {
		return walk(held, key)
	}
	out := walk(held[:last], key)
	if !held[last].off {
		out = append(out, held[last].id)
	}
	return out
}

// TestD14_SharesOfKamailio: weights give the shares that Kamailio's tables of a
// hundred places give, by turn exactly and by chance within 3 sigma.
func TestD14_SharesOfKamailio(t *testing.T) {
	const text = "1 sip:h1 0 0 duid=c;weight=20;rweight=1\n1 sip:h2 0 0 duid=b;weight=50;rweight=2\n1 sip:h3 0 0 duid=a;weight=20;rweight=1\n"
	const calls = 20_000
	for _, c := range []struct {
		algorithm int
		down      string
		want      map[string]float64
		exact     bool
	}{
		{dsRelative, "", map[string]float64{"a": 0.25, "b": 0.5, "c": 0.25}, true},
		{dsRelative, "c", map[string]float64{"a": 1.0 / 3, "b": 2.0 / 3}, true}, // K-20
		{dsWeight, "", map[string]float64{"a": 0.2, "b": 0.5, "c": 0.3}, false}, // the rest is the last entry's
	} {
		x := plannedOf(t, c.algorithm, text, KamailioOptions{})
		for _, m := range x.g.Members {
			if m.ID == c.down {
				x.v.States[m.Index] = trunkgroup.Draining
			}
			x.v.Addrs[m.Index] = []netip.AddrPort{netip.MustParseAddrPort("198.51.100.1:5060")}
		}
		got := map[string]int{}
		seed := uint64(1)
		for turn := range calls {
			seed = seed*6364136223846793005 + 1442695040888963407
			got[x.order(trunkgroup.Draw{Turn: uint64(turn), Random: seed})[0]]++
		}
		for id, share := range c.want {
			off := math.Abs(float64(got[id]) - share*calls)
			if limit := 3 * math.Sqrt(calls*share*(1-share)); c.exact && off > 2 || off > limit {
				t.Errorf("algorithm %d without %q: %s has %d of %d calls, want %.1f %%", c.algorithm, c.down, id, got[id], calls, 100*share)
			}
		}
	}
}

// TestD14_ARealKamailioPlacesAlike: a Kamailio of this machine and the import of its
// list agree on every key, with priorities that reorder the list and entries that
// are out of service.
func TestD14_ARealKamailioPlacesAlike(t *testing.T) {
	members := []dispatcher.Member{
		{Port: 6101, Attrs: "0 5 duid=a"},
		{Port: 6102, Attrs: "0 9 duid=b"},
		{Port: 6103, Attrs: "4 5 duid=c"},
		{Port: 6104, Attrs: "0 5 duid=d"},
		{Port: 6105, Attrs: ""},
		{Port: 6106, Attrs: "0 0"},
		{Port: 6107, Attrs: "0 9"},
	}
	var text strings.Builder
	for _, m := range members {
		fmt.Fprintf(&text, "1 %s %s\n", m.URI(), m.Attrs)
	}
	k, err := dispatcher.Start(dispatcher.Settings{Dir: t.TempDir(), Addr: freePort(t), Members: members})
	if errors.Is(err, dispatcher.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.Stop(); err != nil {
			t.Error(err)
		}
	}()
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("%08x-key%d", uint32(i)*2654435761, i)
	}
	for by, traits := range map[dispatcher.By]func(key string) trunkgroup.Traits{
		dispatcher.ByCallID: func(key string) trunkgroup.Traits { return trunkgroup.Traits{CallID: []byte(key)} },
		dispatcher.ByFrom: func(key string) trunkgroup.Traits {
			return trunkgroup.Traits{From: []byte("sip:" + key + "@example.net")}
		},
		dispatcher.ByTo: func(key string) trunkgroup.Traits {
			return trunkgroup.Traits{To: []byte("sip:" + key + "@example.net")}
		},
	} {
		ports, err := k.Place(by, keys)
		if err != nil {
			t.Fatal(err)
		}
		x := plannedOf(t, int(by), text.String(), KamailioOptions{ExactHash: true})
		for i, key := range keys {
			own := traits(key)
			x.order(trunkgroup.Draw{Traits: &own})
			at := slices.IndexFunc(x.dst, func(c trunkgroup.Candidate) bool { return c.Dialable })
			if got := int(x.dst[at].Addr.Port()); got != ports[i] {
				t.Fatalf("algorithm %d: Kamailio sends %q to port %d, the import to %d", by, key, ports[i], got)
			}
		}
	}
}

// freePort returns a UDP address of loopback that nobody has.
func freePort(t *testing.T) netip.AddrPort {
	t.Helper()
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// TestC01_NumbersAreThoseOfTheDocument: what an import makes of an algorithm is what
// a document that says kamailio:N means.
func TestC01_NumbersAreThoseOfTheDocument(t *testing.T) {
	for n := range 65 {
		var m trunkgroup.Method
		if err := m.UnmarshalText(fmt.Appendf(nil, "kamailio:%d", n)); err != nil || n == dsParallel {
			continue
		}
		o := KamailioOptions{Algorithm: &n, Params: map[string]string{"hash_pvar": "$ci"}}
		if got := only(t, kamailioOf(t, o, "1 sip:h1 0 7 weight=50;rweight=5\n")).Distribution.Method; got != m {
			t.Errorf("algorithm %d is %v, kamailio:%d is %v", n, got, n, m)
		}
	}
}
