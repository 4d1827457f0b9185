package lease

import (
	"fmt"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/limit"
)

var fourNodes = map[string]int{"ash": 2, "dal": 2}

// ready is a cluster that has shared its limits out.
func ready(t *testing.T, seed uint64, sites map[string]int, limits ...Limit) *world {
	t.Helper()
	w := newWorld(t, seed, sites, limits...)
	w.pass(5 * time.Second)
	return w
}

func (w *world) node(name string) *sim {
	for _, n := range w.nodes {
		if n.name == name {
			return n
		}
	}
	w.t.Fatalf("no node %s", name)
	return nil
}

// takes offers a call and reports whether it was taken, and after how long.
func (w *world) takes(n *sim, k limit.Key, hold time.Duration) (bool, time.Duration) {
	granted, refused, began := w.granted, w.refused, w.now
	w.place(n, k, hold)
	for w.granted == granted && w.refused == refused {
		w.step(time.Millisecond)
	}
	return w.granted > granted, w.now.Sub(began)
}

// TestDEC10_LimitOfTwoOnFourNodes: any node takes a call as long as fewer than two
// are up anywhere, and none beyond.
func TestDEC10_LimitOfTwoOnFourNodes(t *testing.T) {
	for seed := range uint64(5) {
		limitOfTwo(t, seed)
	}
}

func limitOfTwo(t *testing.T, seed uint64) {
	t.Helper()
	w := ready(t, seed, fourNodes, ports(map[string]int{"ash": 1, "dal": 1}, time.Hour))
	longest := time.Duration(0)
	for range 100 {
		a, b, c := w.nodes[w.rng.IntN(4)], w.nodes[w.rng.IntN(4)], w.nodes[w.rng.IntN(4)]
		for _, n := range []*sim{a, b} {
			ok, after := w.takes(n, portsKey, time.Second)
			if !ok {
				for _, n := range w.nodes {
					t.Logf("%s: %s", n.name, n.e.dump(portsKey))
				}
				t.Fatalf("%s refused a call with %d up after %v", n.name, w.open(portsKey), after)
			}
			longest = max(longest, after)
		}
		if ok, after := w.takes(c, portsKey, time.Second); ok || after > 510*time.Millisecond {
			t.Fatalf("%s: a third call was taken %v, after %v", c.name, ok, after)
		}
		w.pass(time.Second + time.Duration(w.rng.IntN(300))*time.Millisecond)
	}
	t.Logf("the longest wait of a call that was taken: %v", longest)
}

// TestDEC10_FullUse: four nodes at three times the limit.
func TestDEC10_FullUse(t *testing.T) {
	shares := map[string]int{"ash": 50, "dal": 50}
	rates := map[string]int{"ash": 10, "dal": 10}
	w := ready(t, 2, fourNodes, ports(shares, time.Hour), Limit{Key: rateKey, Shares: rates, Hold: limit.RateSpan})
	var area, taken, steps int
	for i := range 12000 { // 60 s
		w.step(5 * time.Millisecond)
		n := w.nodes[w.rng.IntN(4)]
		if w.rng.IntN(10) < 3 { // 60 per second
			w.place(n, portsKey, 5*time.Second)
			before := w.granted
			w.place(n, rateKey, limit.RateSpan)
			taken += w.granted - before
		}
		if i > 2000 {
			area += w.open(portsKey)
			steps++
		}
	}
	if mean := float64(area) / float64(steps); mean < 95 {
		t.Errorf("%.1f of 100 calls in the mean", mean)
	} else {
		t.Logf("%.1f of 100 calls in the mean", mean)
	}
}

// TestDEC10_OneSiteUsesAll: all calls come to one site, and it gets the other's
// rights too.
func TestDEC10_OneSiteUsesAll(t *testing.T) {
	w := ready(t, 2, fourNodes, ports(map[string]int{"ash": 50, "dal": 50}, time.Hour))
	var area, steps int
	for i := range 12000 {
		w.step(5 * time.Millisecond)
		if w.rng.IntN(10) < 3 {
			w.place(w.nodes[2+w.rng.IntN(2)], portsKey, 5*time.Second)
		}
		if i > 4000 {
			area += w.open(portsKey)
			steps++
		}
	}
	if mean := float64(area) / float64(steps); mean < 95 {
		t.Errorf("%.1f of 100 calls in the mean", mean)
	} else {
		t.Logf("%.1f of 100 calls in the mean", mean)
	}
}

// TestDEC10_RateIsUsed: calls per second at three times the limit.
func TestDEC10_RateIsUsed(t *testing.T) {
	w := ready(t, 3, fourNodes, Limit{Key: rateKey, Shares: map[string]int{"ash": 10, "dal": 10}, Hold: limit.RateSpan})
	for i := range 12000 {
		if i == 2000 {
			w.granted = 0
		}
		w.step(5 * time.Millisecond)
		if w.rng.IntN(10) < 3 {
			w.place(w.nodes[w.rng.IntN(4)], rateKey, limit.RateSpan)
		}
	}
	if rate := float64(w.granted) / 50; rate < 19 || rate > 20.4 {
		t.Errorf("%.2f of 20 calls per second", rate)
	} else {
		t.Logf("%.2f of 20 calls per second", rate)
	}
}

// fill takes calls at a node until one is refused.
func (w *world) fill(n *sim, hold time.Duration) (taken int) {
	for {
		if ok, _ := w.takes(n, portsKey, hold); !ok {
			return taken
		}
		taken++
	}
}

// TestDEC10_KilledNode: its share is free after the lease, and not before.
func TestDEC10_KilledNode(t *testing.T) {
	w := ready(t, 4, map[string]int{"dal": 2}, ports(map[string]int{"dal": 10}, time.Hour))
	for range 5 {
		w.takes(w.node("dal1"), portsKey, time.Hour)
		w.takes(w.node("dal2"), portsKey, time.Hour)
	}
	w.kill(w.node("dal1"))
	w.pass(5 * time.Second)
	if ok, _ := w.takes(w.node("dal2"), portsKey, time.Hour); ok {
		t.Error("a right of a dead node was used before its lease had ended")
	}
	w.pass(8 * time.Second)
	if n := w.fill(w.node("dal2"), time.Hour); n != 5 {
		t.Errorf("%d calls of the dead node's 5", n)
	}
}

// TestDEC10_SilentNode: a node that is paused keeps its calls, so its share stays
// counted; when it is back, all go on.
func TestDEC10_SilentNode(t *testing.T) {
	w := ready(t, 5, map[string]int{"dal": 3}, ports(map[string]int{"dal": 9}, time.Hour))
	p := w.node("dal1")
	for range 3 {
		w.takes(p, portsKey, 2*time.Minute)
	}
	p.paused = true
	w.pass(30 * time.Second)
	n := w.fill(w.node("dal2"), time.Minute) + w.fill(w.node("dal3"), time.Minute)
	if n > 6 {
		t.Errorf("%d calls beside the 3 of a silent node", n)
	}
	p.paused = false
	w.pass(3 * time.Minute)
	w.saturated(portsKey)
}

// TestDEC10_LongSilence: after DeadAfter a node that sees most of the cluster
// takes a silent one for dead.
func TestDEC10_LongSilence(t *testing.T) {
	w := ready(t, 6, map[string]int{"dal": 3}, ports(map[string]int{"dal": 9}, time.Hour))
	p := w.node(w.nodes[0].e.grantor(portsKey, "dal"))
	other := w.nodes[(p.i+1)%3]
	p.paused = true
	w.pass(DefaultDeadAfter + 15*time.Second)
	if n := w.fill(other, time.Hour); n != 9 {
		t.Errorf("%d calls of 9 with one node gone for long", n)
	}
	p.paused = false // what it held is in use by others
	for range 400 {
		w.place(p, portsKey, time.Hour)
		w.step(5 * time.Millisecond)
	}
}

// cutSites cuts the two sites from each other.
func (w *world) cutSites() {
	for i, a := range w.nodes {
		for k, b := range w.nodes {
			if a.site != b.site {
				w.cut[[2]int{i, k}] = true
			}
		}
	}
}

// TestDEC10_Partition: what is lent stays counted at the lender; the borrower
// admits none on it, and it is used again once it must be back.
func TestDEC10_Partition(t *testing.T) {
	const hold = 30 * time.Second
	w := ready(t, 7, fourNodes, ports(map[string]int{"ash": 10, "dal": 10}, hold))
	if n := w.fill(w.node("dal1"), hold); n < 15 {
		t.Fatalf("only %d calls at one site of an idle cluster", n)
	}
	w.cutSites()
	w.pass(12 * time.Second)
	if ok, _ := w.takes(w.node("dal1"), portsKey, hold); ok {
		t.Error("a call on borrowed rights was taken in a partition")
	}
	w.pass(hold)
	if n := w.fill(w.node("dal1"), hold); n != 10 {
		t.Errorf("%d calls on the site's own share of 10", n)
	}
	w.pass(20 * time.Second)
	if n := w.fill(w.node("ash2"), hold); n != 10 {
		t.Errorf("%d calls at the lender, whose loan is over, of 10", n)
	}
	clear(w.cut)
	w.pass(hold + 15*time.Second)
	w.saturated(portsKey)
}

// TestDEC10_LimitChanges: what is up counts under a new limit; a lower one lets
// none in until enough have ended.
func TestDEC10_LimitChanges(t *testing.T) {
	w := ready(t, 8, fourNodes, Limit{Key: portsKey, Hold: time.Hour})
	for range 40 {
		if ok, _ := w.takes(w.nodes[w.rng.IntN(4)], portsKey, 30*time.Second); !ok {
			t.Fatal("refused without a limit")
		}
	}
	change := func(shares map[string]int) {
		w.limits = nil // what is above is no fault
		for _, n := range w.nodes {
			n.e.SetLimits(w.now, []Limit{ports(shares, time.Hour)})
		}
		w.pass(3 * time.Second)
	}
	change(map[string]int{"ash": 10, "dal": 10})
	if ok, _ := w.takes(w.node("dal1"), portsKey, time.Minute); ok {
		t.Error("a call was taken with 40 up and a limit of 20")
	}
	w.pass(30 * time.Second)
	w.limits = []Limit{ports(map[string]int{"ash": 10, "dal": 10}, time.Hour)}
	w.saturated(portsKey)
	change(map[string]int{"ash": 15, "dal": 15})
	w.limits = []Limit{ports(map[string]int{"ash": 15, "dal": 15}, time.Hour)}
	w.saturated(portsKey)
	change(nil)
	if ok, _ := w.takes(w.node("dal1"), portsKey, time.Minute); !ok {
		t.Error("refused without a limit")
	}
}

func TestDEC10_StatusSaysWhatIsWrong(t *testing.T) {
	w := ready(t, 9, fourNodes, ports(map[string]int{"ash": 10, "dal": 10}, time.Minute))
	w.fill(w.node("dal1"), time.Minute)
	w.pass(8 * time.Second) // what is told of other sites is some seconds old
	total := 0
	for _, n := range w.nodes {
		s := n.e.Status(w.now)[0]
		if s.Note != "" || s.Limit != 20 || s.Own != 10 {
			t.Errorf("%s: %+v", n.name, s)
		}
		if s.SiteUsed+s.OtherUsed != w.open(portsKey) {
			t.Errorf("%s believes %d+%d in use, it is %d", n.name, s.SiteUsed, s.OtherUsed, w.open(portsKey))
		}
		total += s.Share
	}
	if total != 20 {
		t.Errorf("shares of %d together", total)
	}
	w.cutSites()
	w.pass(15 * time.Second)
	notes := 0
	for _, n := range w.nodes {
		if n.e.Status(w.now)[0].Note != "" {
			notes++
		}
	}
	if notes == 0 {
		t.Error("nobody says that the other site is away")
	}
}

// TestRowsGrowFor64Bits: what was ever moved is a larger number than any share.
func TestRowsGrowFor64Bits(t *testing.T) {
	in := record{kind: kindSite, key: portsKey, rows: rows{{"ash", "dal"}: 1 << 40}}
	r := read(in.append(nil))
	if out := r.record(); r.Bad() || out.rows[pair{"ash", "dal"}] != 1<<40 {
		t.Errorf("%+v, bad: %v", out, r.Bad())
	}
	in.rows[pair{"ash", "dal"}] = maxMoved + 1
	r = read(in.append(nil))
	if r.record(); !r.Bad() {
		t.Error("a number that cannot be was taken")
	}
}

func TestFramesStaySmall(t *testing.T) {
	var limits []Limit
	for i := range 3000 {
		limits = append(limits, Limit{
			Key: limit.Key{Kind: limit.Calls, Scope: limit.Group, Name: fmt.Sprintf("group-%d", i)}, Shares: map[string]int{"dal": 10}, Hold: time.Hour,
		})
	}
	e := New(Config{Node: "dal1", Site: "dal", Boot: 1}, limit.NewSet(), time.Now())
	e.SetLimits(e.now, limits)
	e.SetNodes(e.now, []Node{{Name: "dal2", Site: "dal", Boot: 1, State: Up}})
	e.Advance(e.now)
	list := e.Output()
	records := 0
	for _, m := range list {
		if len(m.Frame) > fillFrame+1000 {
			t.Errorf("a frame of %d bytes", len(m.Frame))
		}
		f, err := parse(m.Frame)
		if err != nil {
			t.Fatal(err)
		}
		records += len(f.records)
	}
	if len(list) < 2 || records < 3000 {
		t.Errorf("%d frames with %d records", len(list), records)
	}
}

func FuzzParse(f *testing.F) {
	w := newWorld(f, 1, fourNodes, ports(map[string]int{"ash": 1, "dal": 1}, time.Hour))
	for range 2000 {
		for _, m := range w.mail[:min(3, len(w.mail))] {
			f.Add(m.frame)
		}
		w.step(time.Millisecond)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		f, err := parse(b)
		if err != nil {
			return
		}
		list := f.records
		for i := range list { // what was read is written, and read again
			r := read(list[i].append(nil))
			if again := r.record(); r.Bad() || again.key != list[i].key || again.seq != list[i].seq || len(again.rows) != len(list[i].rows) {
				t.Fatalf("%+v became %+v, bad: %v", list[i], again, r.Bad())
			}
		}
		w := newWorld(t, 1, fourNodes, ports(map[string]int{"ash": 1, "dal": 1}, time.Hour))
		w.pass(3 * time.Second)
		_ = w.node("dal1").e.Receive(w.now, "dal2", b)
		w.node("dal1").e.Advance(w.now)
	})
}

func BenchmarkAdvance(b *testing.B) {
	var limits []Limit
	for i := range 1000 {
		limits = append(limits, Limit{
			Key: limit.Key{Kind: limit.Calls, Scope: limit.Group, Name: string(rune('a' + i))}, Shares: map[string]int{"dal": 10}, Hold: time.Hour,
		})
	}
	w := newWorld(b, 1, map[string]int{"dal": 2}, limits...)
	w.pass(5 * time.Second)
	e := w.node("dal1").e
	now := w.now
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		e.Advance(now)
		e.Output()
	}
}
