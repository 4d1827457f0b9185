package sessions

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

const aor = "sip:rooms@sip.local"

func document(method trunkgroup.Method) *trunkgroup.Document {
	return &trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{
			{
				Name: "rooms", Role: trunkgroup.OriginationCustomer, Distribution: trunkgroup.DistributionSpec{Method: method},
				Members: []trunkgroup.MemberSpec{
					{ID: "conf", Registration: &trunkgroup.RegistrationSpec{AOR: aor}},
					{ID: "old", Site: "dallas", Address: "198.51.100.1"},
				},
				Credentials: []trunkgroup.CredentialSpec{{Username: "rooms", Realm: "sip.local", HA1MD5: "0123456789abcdef0123456789abcdef"}},
			},
			{Name: "plain", Role: trunkgroup.OriginationCustomer, Members: []trunkgroup.MemberSpec{{ID: "pbx", Site: "dallas", Address: "198.51.100.2"}}},
		},
	}
}

func compile(t testing.TB, method trunkgroup.Method) *trunkgroup.Table {
	t.Helper()
	table, err := trunkgroup.Compile(document(method), trunkgroup.Version{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func bound(id string) *trunkgroup.Binding { return &trunkgroup.Binding{AOR: aor, ID: id} }

// changed lists the news.
func changed(x *Table) map[string]int {
	news := map[string]int{}
	x.Changed(func(farEnd string, own int) { news[farEnd] = own })
	return news
}

func TestR08_OwnCounts(t *testing.T) {
	table, x := compile(t, trunkgroup.LeastSessions), NewTable()
	conf, old, pbx := table.Member("rooms/conf"), table.Member("rooms/old"), table.Member("plain/pbx")
	if x.Enter(conf, bound("a")) != nil || x.Sessions(conf, bound("a")) != 0 {
		t.Error("it counts before there is a table")
	}
	x.Publish(table)
	if x.Enter(pbx, nil) != nil {
		t.Error("a group that nobody distributes by sessions is counted")
	}
	a1, a2, o := x.Enter(conf, bound("a")), x.Enter(conf, bound("a")), x.Enter(old, nil)
	if n := x.Sessions(conf, bound("a")); n != 2 {
		t.Errorf("%d calls at a, want 2", n)
	}
	if got := changed(x); !maps.Equal(got, map[string]int{"rooms/conf\x00a": 2, "rooms/old": 1}) {
		t.Errorf("news %v", got)
	}
	if n := len(changed(x)); n != 0 {
		t.Errorf("%d news of nothing", n)
	}
	x.Heard("ash-1/7", "rooms/conf\x00a", 5)
	x.Heard("ash-2/1", "rooms/conf\x00b", 1)
	x.Heard("ash-2/1", "rooms/old", 3)
	x.Publish(compile(t, trunkgroup.LeastSessions)) // a new revision
	again := compile(t, trunkgroup.LeastSessions)
	for id, want := range map[string]int{"a": 7, "b": 1, "c": 0} {
		if n := x.Sessions(again.Member("rooms/conf"), bound(id)); n != want {
			t.Errorf("%d calls at %s, want %d", n, id, want)
		}
	}
	a1.Leave()
	o.Leave()
	x.Heard("ash-1/7", "rooms/conf\x00a", 2)
	x.Heard("ash-2/1", "rooms/conf\x00b", 0) // gone
	if a, b, o := x.Sessions(conf, bound("a")), x.Sessions(conf, bound("b")), x.Sessions(old, nil); a != 3 || b != 0 || o != 3 {
		t.Errorf("%d, %d and %d calls", a, b, o)
	}
	a2.Leave()
	if got := changed(x); !maps.Equal(got, map[string]int{"rooms/conf\x00a": 0, "rooms/old": 0}) {
		t.Errorf("news %v", got)
	}
}

// What others told before a group counts is there once it does.
func TestCountsOfAGroupThatBeginsToCount(t *testing.T) {
	x := NewTable()
	x.Publish(compile(t, trunkgroup.Failover))
	x.Heard("ash-1/1", "rooms/conf\x00a", 4)
	x.Heard("ash-1/1", "rooms/old", 2)
	table := compile(t, trunkgroup.LeastSessions)
	x.Publish(table)
	if a, o := x.Sessions(table.Member("rooms/conf"), bound("a")), x.Sessions(table.Member("rooms/old"), nil); a != 4 || o != 2 {
		t.Errorf("%d and %d calls", a, o)
	}
	seat := x.Enter(table.Member("rooms/old"), nil)
	x.Publish(compile(t, trunkgroup.Failover))
	x.Publish(table)
	if n := x.Sessions(table.Member("rooms/old"), nil); n != 3 {
		t.Errorf("a call that stayed up is counted as %d", n-2)
	}
	seat.Leave()
}

// Bindings that come and go leave nothing behind.
func TestSeatsAreSwept(t *testing.T) {
	table, x := compile(t, trunkgroup.LeastSessions), NewTable()
	x.Publish(table)
	m := table.Member("rooms/conf")
	stays := x.Enter(m, bound("stays"))
	for i := range 1000 {
		x.Enter(m, bound(fmt.Sprint(i))).Leave()
		if i%3 == 0 {
			changed(x)
		}
	}
	changed(x)
	x.Enter(m, bound("last")).Leave()
	if n := len(*x.places[m.Key].bindings.Load()); n > 4*sweepFrom {
		t.Errorf("%d seats are kept", n)
	}
	if n := x.Sessions(m, bound("stays")); n != 1 {
		t.Errorf("%d calls where one is up", n)
	}
	stays.Leave()
}

// The counts are what a model says, whatever the order of enters, leaves and
// news.
func TestCountsProperty(t *testing.T) {
	table := compile(t, trunkgroup.LeastSessions)
	m := table.Member("rooms/conf")
	rapid.Check(t, func(t *rapid.T) {
		x := NewTable()
		x.Publish(table)
		own, heard, told := map[string]int{}, map[string]map[string]int{}, map[string]int{}
		var seats []*Seat
		var ids []string
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			id := fmt.Sprint(rapid.IntRange(0, 25).Draw(t, "binding"))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				seats, ids = append(seats, x.Enter(m, bound(id))), append(ids, id)
				own[id]++
			case 2:
				if n := len(seats); n > 0 {
					i := rapid.IntRange(0, n-1).Draw(t, "leaves")
					seats[i].Leave()
					own[ids[i]]--
					seats[i], ids[i] = seats[n-1], ids[n-1]
					seats, ids = seats[:n-1], ids[:n-1]
				}
			case 3:
				process, n := rapid.SampledFrom([]string{"p", "q"}).Draw(t, "process"), rapid.IntRange(0, 3).Draw(t, "heard")
				x.Heard(process, m.Key+"\x00"+id, n)
				if heard[id] == nil {
					heard[id] = map[string]int{}
				}
				heard[id][process] = n
			case 4:
				x.Changed(func(farEnd string, own int) { told[farEnd] = own })
			}
		}
		x.Changed(func(farEnd string, own int) { told[farEnd] = own })
		for i := range 26 {
			id := fmt.Sprint(i)
			want := own[id] + heard[id]["p"] + heard[id]["q"]
			if got := x.Sessions(m, bound(id)); got != want {
				t.Fatalf("%d calls at %s, want %d", got, id, want)
			}
			if got := told[m.Key+"\x00"+id]; got != own[id] {
				t.Fatalf("told %d of %s, have %d", got, id, own[id])
			}
		}
	})
}

// Shards enter and leave while tables and news come: in the end nothing is left.
func TestCountsFromManyGoroutines(t *testing.T) {
	table, x := compile(t, trunkgroup.LeastSessions), NewTable()
	x.Publish(table)
	m := table.Member("rooms/conf")
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 3000 {
				s := x.Enter(m, bound(fmt.Sprint((g*31+i)%40)))
				x.Sessions(m, bound("3"))
				s.Leave()
			}
		})
	}
	told := map[string]int{}
	for i := range 200 {
		x.Changed(func(farEnd string, own int) { told[farEnd] = own })
		x.Heard("p", m.Key+"\x00"+fmt.Sprint(i%40), i%2)
		x.Publish(compile(t, trunkgroup.LeastSessions))
	}
	all.Wait()
	x.Changed(func(farEnd string, own int) { told[farEnd] = own })
	for farEnd, n := range told {
		if n != 0 {
			t.Errorf("%q has %d calls", farEnd, n)
		}
	}
}

func TestR14_Memory(t *testing.T) {
	m, now := NewMemory(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if m.Remembered(now, "k") != "" {
		t.Error("it knows what nobody said")
	}
	m.Remember(now, "k", "rooms/conf\x00a", time.Minute)
	if got := <-m.Queue(); got != (Assignment{"k", "rooms/conf\x00a", time.Minute}) {
		t.Errorf("shared %+v", got)
	}
	m.Remember(now.Add(20*time.Second), "k", "rooms/conf\x00a", time.Minute)
	if len(m.Queue()) != 0 {
		t.Error("what is known for half of its time is told again")
	}
	m.Remember(now.Add(31*time.Second), "k", "rooms/conf\x00a", time.Minute)
	m.Remember(now.Add(31*time.Second), "k", "rooms/conf\x00b", time.Minute)
	if len(m.Queue()) != 2 || m.Remembered(now.Add(90*time.Second), "k") != "rooms/conf\x00b" {
		t.Error("R-24, R-25: not renewed, or not changed")
	}
	if m.Remembered(now.Add(91*time.Second), "k") != "" {
		t.Error("R-24: it does not expire")
	}
	m.Forget("k")
	m.Forget("k")
	for i := range queueSize + 10 {
		m.Remember(now, fmt.Sprint(i), "x", time.Minute)
	}
	if n, lost := m.Stats(); n != queueSize-2 || lost != 12 {
		t.Errorf("%d assigned, %d lost", n, lost)
	}
}

func BenchmarkEnterLeave(b *testing.B) {
	table, x := compile(b, trunkgroup.LeastSessions), NewTable()
	x.Publish(table)
	m, at := table.Member("rooms/conf"), bound("a")
	b.ReportAllocs()
	for b.Loop() {
		x.Enter(m, at).Leave()
	}
}

func BenchmarkSessions(b *testing.B) {
	table, x := compile(b, trunkgroup.LeastSessions), NewTable()
	x.Publish(table)
	m, at := table.Member("rooms/conf"), bound("a")
	x.Enter(m, at)
	b.ReportAllocs()
	for b.Loop() {
		x.Sessions(m, at)
	}
}

func BenchmarkRemembered(b *testing.B) {
	m, now := NewMemory(), time.Unix(0, 0)
	m.Set("rooms\x0042", "rooms/conf\x00a", now.Add(time.Hour))
	b.ReportAllocs()
	for b.Loop() {
		m.Remembered(now, "rooms\x0042")
	}
}
