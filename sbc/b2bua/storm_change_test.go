package b2bua

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Calls by every method while the table is replaced all the time: groups in groups,
// last resorts, members that come, go and start slowly, limits that are reached.

const (
	stormChanging = "+1512556" // a customer's number
	stormOutward  = "+1307555" // somewhere behind the carriers
	stormCustomer = "198.51.100.200:5060"
)

// changing are the groups that are other ones each time.
func changing(r *rand.Rand) []trunkgroup.GroupSpec {
	inner := trunkgroup.GroupSpec{Name: "inner-in", Role: trunkgroup.OriginationCustomer}
	outer := trunkgroup.GroupSpec{Name: "any-in", Role: trunkgroup.OriginationCustomer, Numbers: []string{stormChanging + "*"}}
	vendors := trunkgroup.GroupSpec{Name: "vendors", Role: trunkgroup.PSTNProvider}
	vendor := trunkgroup.GroupSpec{Name: "vendor", Role: trunkgroup.PSTNProvider}
	for _, x := range []struct {
		g     *trunkgroup.GroupSpec
		first int
	}{{&inner, 30}, {&outer, 40}, {&vendors, 50}, {&vendor, 60}} {
		changeGroup(r, x.g, x.first)
	}
	nest := func(outer *trunkgroup.GroupSpec, group string) {
		if outer.Distribution.Method != trunkgroup.Parallel && r.IntN(2) == 0 {
			m := trunkgroup.MemberSpec{ID: "nest", Group: group, Weight: 1 + r.IntN(5), Priority: r.IntN(2), LastResort: r.IntN(5) == 0}
			outer.Members = slices.Insert(outer.Members, r.IntN(len(outer.Members)+1), m)
		}
	}
	if inner.Distribution.Method == trunkgroup.Parallel {
		inner.Distribution = trunkgroup.DistributionSpec{}
	}
	nest(&outer, inner.Name)
	nest(&vendors, vendor.Name)
	return []trunkgroup.GroupSpec{inner, outer, vendors, vendor, {
		Name: "acme-out", Role: trunkgroup.TerminationCustomer, Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.200"}}, RoutePlan: "out",
		Numbering: trunkgroup.NumberingSpec{Preserve: []string{"911"}},
	}}
}

func changeGroup(r *rand.Rand, g *trunkgroup.GroupSpec, first int) {
	names := trunkgroup.MethodNames()
	d := &g.Distribution
	for {
		_ = d.Method.UnmarshalText([]byte(names[r.IntN(len(names))]))
		if d.Method != trunkgroup.Parallel || g.Role == trunkgroup.OriginationCustomer {
			break
		}
	}
	if d.Method == trunkgroup.Hash || d.Method == trunkgroup.HashMod {
		d.Key = []string{"call-id", "from", "header:X-Storm", "source-ip", "auth-user"}[r.IntN(5)]
	}
	if d.Method != trunkgroup.Parallel && r.IntN(3) == 0 {
		d.SessionAffinityHeader = "X-Storm"
	}
	if d.Method != trunkgroup.Parallel && d.Method != trunkgroup.HashMod && r.IntN(2) == 0 {
		d.SlowStart = trunkgroup.Duration(time.Minute)
	}
	g.MaxAttempts = r.IntN(4)
	if r.IntN(3) == 0 {
		g.NeverAdvance = []int{500}
	}
	if r.IntN(3) == 0 {
		g.Timers.Setup = trunkgroup.Duration(time.Duration(5+r.IntN(5)) * time.Second)
		g.Timers.Progress = trunkgroup.Duration(5 * time.Second)
	}
	g.Monitoring.Profile = "peeredge"
	for i := range 6 {
		if r.IntN(3) == 0 {
			continue
		}
		m := trunkgroup.MemberSpec{
			ID: fmt.Sprint("m", i), Site: []string{"dallas", "ashburn"}[i%2], Address: stormPhone(first + i), Weight: 1 + r.IntN(9),
			Priority: r.IntN(2), LastResort: r.IntN(8) == 0, Disabled: r.IntN(10) == 0,
		}
		if r.IntN(2) == 0 {
			m.Limits.Calls = 1 + r.IntN(3)
		}
		g.Members = append(g.Members, m)
	}
	if len(g.Members) == 0 {
		g.Members = []trunkgroup.MemberSpec{{ID: "m0", Site: "dallas", Address: stormPhone(first)}}
	}
}

// change puts another table in force on all nodes, with other facts beside it.
func (w *storm) change() {
	r := w.rng
	d := stormDocument()
	d.TrunkGroups = append(d.TrunkGroups, changing(r)...)
	providers := [][]string{{"vendors", "vendor"}, {"vendor", "vendors"}, {"vendors"}}[r.IntN(3)]
	d.RoutePlans = []trunkgroup.RoutePlanSpec{{
		Name: "out", Routes: []trunkgroup.RouteSpec{{Prefix: "*", Providers: providers}, {Prefix: "911", Providers: providers}},
	}}
	w.revision++
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: w.revision})
	if err != nil {
		w.t.Fatal(err)
	}
	v := trunkgroup.NewView(table)
	v.Ramps, v.Latency = make([]uint8, len(v.States)), make([]time.Duration, len(v.States))
	v.Barred = make([]string, len(v.States))
	for i, m := range table.Members() {
		if !m.Group.Monitoring.Enabled {
			continue
		}
		v.States[i] = []trunkgroup.State{trunkgroup.Active, trunkgroup.Active, trunkgroup.Active, trunkgroup.Down, trunkgroup.Draining, trunkgroup.Trying}[r.IntN(6)]
		v.Ramps[i], v.Latency[i] = uint8(r.IntN(101)), time.Duration(r.IntN(50))*time.Millisecond
		if r.IntN(8) == 0 {
			v.Barred[i] = "quality"
		}
	}
	w.table, w.view = table, v
	for _, n := range w.nodes {
		n.limits.Replace(w.meters(n))
		n.seats.Publish(table)
	}
}

// meters keeps the counts of what stays, with limits of members that are reached.
func (w *storm) meters(n *stormNode) map[limit.Key]*limit.Meter {
	meters := metersOf(w.table, w.now, limit.Unlimited)
	for k, m := range meters {
		if was := n.limits.Meter(k); was != nil {
			m = was
			m.SetShare(limit.Unlimited)
		}
		meters[k], n.meters[m] = m, k
	}
	for _, m := range w.table.Members() {
		if c := m.Limits.Calls; c > 0 {
			x := meters[limit.Key{Kind: limit.Calls, Scope: limit.Member, Name: m.Key}]
			x.SetShare(c)
			if w.chance(0.5) {
				x.SetFull(w.now.Add(time.Hour))
			} else {
				x.SetFull(time.Time{})
			}
		}
	}
	return meters
}

// changes lets the table change as long as calls come.
func (w *storm) changes(until time.Duration) {
	for _, first := range []int{30, 40, 50, 60} {
		for i := range 6 {
			w.agents[stormPhone(first+i)] = newAgent(w, stormPhone(first+i))
		}
	}
	w.agents[stormCustomer] = newAgent(w, stormCustomer)
	w.change()
	for at := time.Duration(0); at < until; at += 700 * time.Millisecond {
		w.after(at, w.change)
	}
}

// changingNumber is what a call dials that goes by what changes, "" for another one.
func (w *storm) changingNumber() string {
	if !w.chance(w.weather.changing) {
		return ""
	}
	return []string{stormChanging + "0100", stormChanging + "0101", stormOutward + "0100", stormOutward + "0101", "911"}[w.rng.IntN(5)]
}
