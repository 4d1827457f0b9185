//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// arena is the place of a node whose groups distribute by every method over the same
// PBXs; all of them are addresses of its loopback.
const arena lab.Place = "arena"

// arenaPBXs are how many PBXs every group has.
const arenaPBXs = 4

var arenaCarrier = netip.MustParseAddr("127.0.1.1")

func arenaPBX(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 2, byte(1 + i)}), 5060)
}

// arenaMethods are the distributions; the number of the i-th is +121455507<i>.
var arenaMethods = []string{
	"{method: round-robin}", "{method: relative-weight}", "{method: failover}", "{method: hash-caller}",
}

const (
	arenaRoundRobin = iota
	arenaRelative
	arenaFailover
	arenaHashCaller
)

func arenaNumber(method int) string { return fmt.Sprintf("+121455507%02d", method) }

// arenaDocument has a group for each method. The PBXs' weights are 1, 2, 3 and 4.
func arenaDocument() string {
	var b strings.Builder
	b.WriteString("cluster: arena\nsites: [{name: dallas}]\ntrunk_groups:\n")
	for i, method := range arenaMethods {
		fmt.Fprintf(&b, "  - name: m%d-in\n    role: origination-customer\n    numbers: [%q]\n    distribution: %s\n    timers: {b_timer: 1s}\n", i, arenaNumber(i), method)
		b.WriteString("    monitoring: @quick@\n    members:\n")
		for p := range arenaPBXs {
			fmt.Fprintf(&b, "      - {id: pbx-%d, site: dallas, address: %q, weight: %d}\n", p, arenaPBX(p), p+1)
		}
	}
	fmt.Fprintf(&b, "  - name: pstn\n    role: pstn-provider\n    sources: [{ip: %s}]\n    members: [{id: dal, site: dallas, address: \"127.0.1.2:5060\", disabled: true}]\n", arenaCarrier)
	return b.String()
}

// contest is the arena's node with its PBXs.
type contest struct {
	*tandem.Node
	pbxs []*sim.FarEnd
}

func theArena(t *testing.T) *contest {
	t.Helper()
	n, err := loneNode("arena", arena, arenaDocument(), "")
	if err != nil {
		t.Fatal(err)
	}
	c := &contest{Node: n}
	for i := range arenaPBXs {
		err := theLab(t).Namespace(arena).Do(func() error {
			f, err := sim.StartPBX(fmt.Sprint(i), arenaPBX(i), sim.AnswersAtOnce())
			c.pbxs = append(c.pbxs, f)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		shared.add(c.pbxs[i].Close)
	}
	c.waitFor(t, "all members", arenaPBXs)
	return c
}

// waitFor waits until each group has so many members that get calls.
func (c *contest) waitFor(t *testing.T, what string, members int) {
	t.Helper()
	eventually(t, 30*time.Second, what, func() error {
		m, err := c.Metrics()
		if err != nil {
			return err
		}
		if got, want := int(m.Sum("tandem_trunk_member_up")), len(arenaMethods)*members; got != want {
			return fmt.Errorf("%d members get calls, want %d", got, want)
		}
		return nil
	})
}

// place calls a group's number so often, one call after the other's begin, and
// returns the calls. None may fail.
func (c *contest) place(t *testing.T, method, calls int, from string) []sim.CallRecord {
	t.Helper()
	var load *sim.Load
	err := theLab(t).Namespace(arena).Do(func() (err error) {
		load, err = sim.NewLoad(sim.LoadConfig{
			CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: c.UDP()}}, Seed: seed(t)}, From: []string{from}, To: []string{arenaNumber(method)},
			Rate: 150, Calls: calls, Hold: 50 * time.Millisecond, Local: []netip.AddrPort{netip.AddrPortFrom(arenaCarrier, 0)}, KeepAll: true,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := load.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Counts.Failed != 0 || r.Left != 0 || len(r.Calls) != calls {
		t.Fatalf("%s: %d of %d calls failed, %d kept: %+v", arenaMethods[method], r.Counts.Failed, r.Counts.Started, len(r.Calls), r.Failures)
	}
	if err := load.Close(); err != nil {
		t.Error(err)
	}
	return r.Calls
}

// shares counts calls by PBX.
func shares(calls []sim.CallRecord) map[string]int {
	n := map[string]int{}
	for i := range calls {
		n[calls[i].Member]++
	}
	return n
}

// invites are how many calls the PBXs got.
func (c *contest) invites() (n int) {
	for _, p := range c.pbxs {
		n += p.Account().Invites
	}
	return n
}

// TestK02_K06_K20_D1_MethodsOnTheWire: what each method makes of real calls. K-02: a
// call goes to one member and to no other. D1: with hash-caller a
// caller keeps his PBX; when one dies, its callers alone go elsewhere, to all of the
// others; when it is back, so are they.
func TestK02_K06_K20_D1_MethodsOnTheWire(t *testing.T) {
	c := theArena(t)
	const one = "+19725550100"
	for pbx, n := range shares(c.place(t, arenaRoundRobin, 100, one)) {
		if n != 25 {
			t.Errorf("round-robin: PBX %s has %d of 100 calls", pbx, n)
		}
	}
	weights := shares(c.place(t, arenaRelative, 100, one))
	for i := range arenaPBXs {
		if n := weights[fmt.Sprint(i)]; n < 10*(i+1)-1 || n > 10*(i+1)+1 {
			t.Errorf("relative-weight: PBX %d has %d of 100 calls, its share is %d", i, n, 10*(i+1))
		}
	}
	if n := shares(c.place(t, arenaFailover, 20, one)); n["0"] != 20 {
		t.Errorf("failover: %v", n)
	}
	if n := c.invites(); n != 220 {
		t.Errorf("220 calls are %d INVITEs at the members", n)
	}
	const many = "+19725550100..+19725550159"
	home := map[string]string{}
	for _, call := range c.place(t, arenaHashCaller, 300, many) {
		if was := home[call.From]; was != "" && was != call.Member {
			t.Errorf("hash-caller: %s is at PBX %s and at %s", call.From, was, call.Member)
		}
		home[call.From] = call.Member
	}
	if err := c.pbxs[3].Kill(); err != nil {
		t.Fatal(err)
	}
	c.waitFor(t, "three members", arenaPBXs-1)
	heirs := map[string]bool{}
	for _, call := range c.place(t, arenaHashCaller, 300, many) {
		switch was := home[call.From]; {
		case was == "3":
			heirs[call.Member] = true
		case was != "" && was != call.Member:
			t.Errorf("hash-caller: %s went from PBX %s to %s, though %s lives", call.From, was, call.Member, was)
		}
	}
	if len(heirs) < 2 {
		t.Errorf("hash-caller: the callers of the dead PBX are all at %v", heirs)
	}
	if err := theLab(t).Namespace(arena).Do(c.pbxs[3].Revive); err != nil {
		t.Fatal(err)
	}
	c.waitFor(t, "all members again", arenaPBXs)
	for _, call := range c.place(t, arenaHashCaller, 300, many) {
		if was := home[call.From]; was != "" && was != call.Member {
			t.Errorf("hash-caller: %s is back at PBX %s, was at %s", call.From, call.Member, was)
		}
	}
}
