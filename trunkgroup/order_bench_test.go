package trunkgroup

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// eachMethod calls fn with every method, those that hash with a key.
func eachMethod(fn func(m Method, d *DistributionSpec)) {
	for m := LoadBalance; m <= Parallel; m++ {
		d := &DistributionSpec{Method: m}
		if m == Hash || m == HashMod {
			d.Key = "call-id"
		}
		fn(m, d)
	}
}

// traitsOf is a call with all that a method may go by.
func traitsOf(i uint64) *Traits {
	return &Traits{
		CallID: fmt.Appendf(nil, "%08x@pbx.example.net", i), From: fmt.Appendf(nil, "sip:+1214555%04d@example.com", i%10000),
		To: []byte("sip:+12145550100@sbc.example.com"), RequestUser: fmt.Appendf(nil, "+1469555%04d", i%10000),
		AuthUser: fmt.Appendf(nil, "user-%d", i%1000), Caller: fmt.Appendf(nil, "+1214555%04d", i%10000),
		Called: fmt.Appendf(nil, "+1469555%04d", i%10000), Source: addrPort("203.0.113.1:5060").Addr(),
	}
}

// busy counts some calls at each member.
type busy struct{}

func (busy) Sessions(m *Member, _ *Binding) int { return m.Index * 7 % 50 }

// crowd is a document with members in groups, as many in each, whose weights differ.
func crowd(spec *DistributionSpec, groups, members int) *Document {
	d := &Document{Cluster: "test", Sites: []SiteSpec{{Name: "dallas"}}}
	role := OriginationCustomer
	for i := range groups {
		g := GroupSpec{
			Name: fmt.Sprintf("g%d", i), Role: role, Distribution: *spec,
			Numbers: []string{fmt.Sprintf("+1469%03d0000..+1469%03d9999", i, i)}, Monitoring: MonitoringSpec{Profile: "peeredge"},
		}
		for j := range members {
			g.Members = append(g.Members, MemberSpec{
				ID: fmt.Sprintf("m%d", j), Site: "dallas", Weight: 1 + j%3, Limits: LimitsSpec{Calls: 100},
				Address: fmt.Sprintf("10.%d.%d.%d:5060", i, j/250, j%250+1),
			})
		}
		d.TrunkGroups = append(d.TrunkGroups, g)
	}
	d.TrunkGroups = append(d.TrunkGroups, GroupSpec{
		Name: "carrier", Role: PSTNProvider, Sources: []SourceSpec{{IP: "203.0.113.0/24"}},
	})
	return d
}

// BenchmarkDecision is the whole decision of an inbound call: source, number and
// try-order, for 1,000 members and 10 million numbers, which are asked all over the
// table.
func BenchmarkDecision(b *testing.B) {
	sizes := benchSizes()
	n := sizes[len(sizes)-1]
	for _, shape := range []struct{ groups, members int }{{250, 4}, {1, 1000}} {
		numbers := crowdNumbers(b, n, shape.groups)
		eachMethod(func(m Method, spec *DistributionSpec) {
			b.Run(fmt.Sprintf("%dx%d/%s", shape.groups, shape.members, m), func(b *testing.B) {
				decide(b, compile(b, crowd(spec, shape.groups, shape.members)).WithNumbers(numbers), n)
			})
		})
	}
}

// crowdNumbers are n numbers that the groups of a crowd own in turn.
func crowdNumbers(b *testing.B, n, groups int) *NumberTable {
	var table *NumberTable
	const atOnce = 100_000
	for from := 0; from < n; from += atOnce {
		step := make([]NumberChange, 0, atOnce)
		for i := from; i < min(from+atOnce, n); i++ {
			step = append(step, NumberChange{Pattern{Exact, numberOf(i), numberOf(i)}, fmt.Sprintf("g%d", i%groups)})
		}
		next, err := table.With(step)
		if err != nil {
			b.Fatal(err)
		}
		table = next
	}
	return table
}

func decide(b *testing.B, table *Table, numbers int) {
	v := NewView(table)
	v.Sessions = busy{}
	v.Latency = make([]time.Duration, len(v.States))
	for i := range v.Latency {
		v.Latency[i] = time.Duration(i%40) * time.Millisecond
	}
	traits := make([]*Traits, 256)
	for i := range traits {
		traits[i] = traitsOf(uint64(i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	called := make([][]byte, 1<<16)
	for i := range called {
		called[i] = []byte(numberOf(r.IntN(numbers)).String())
	}
	k := SourceKey{Local: addrPort("192.0.2.1:5060"), Source: addrPort("203.0.113.1:5060"), Transport: UDP}
	var p Planner
	var dst []Candidate
	b.ReportAllocs()
	var i uint64
	for b.Loop() {
		i++
		k.User = called[i%uint64(len(called))]
		if m, ok := table.MatchSource(k); !ok || m.Provider == nil {
			b.Fatal("no source")
		}
		g := table.MatchNumber(k.User)
		if dst = p.Plan(dst[:0], g, "dallas", v, Draw{Turn: i, Random: i, Traits: traits[i%256]}); len(dst) == 0 {
			b.Fatal("no plan")
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
