package verdict

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-13: "A reader takes the record of the node that rendezvous over its own live set names, if younger (by receiver's clock) than 2 x interval
// + timeout, else the youngest other, else unknown".
func TestDEC13_Choose(t *testing.T) {
	m := &trunkgroup.Monitoring{Enabled: true, Interval: 10 * time.Second, DownInterval: 5 * time.Second, Timeout: 2 * time.Second}
	type rec struct {
		node string
		age  time.Duration
	}
	for _, c := range []struct {
		name    string
		records []rec
		want    string
		until   time.Duration // from now
	}{
		{"none", nil, "", 0},
		{"the owner's", []rec{{"owner", 5 * time.Second}}, "owner", 17 * time.Second},
		{"the owner's though older than another", []rec{{"other", 0}, {"owner", 21 * time.Second}}, "owner", time.Second},
		{"the owner's is too old", []rec{{"owner", 22 * time.Second}, {"other", 21 * time.Second}}, "other", time.Second},
		{"the youngest other", []rec{{"x", 7 * time.Second}, {"y", 3 * time.Second}, {"z", 9 * time.Second}}, "y", 19 * time.Second},
		{"equal ages", []rec{{"y", 3 * time.Second}, {"x", 3 * time.Second}}, "x", 19 * time.Second},
		{"all too old", []rec{{"owner", time.Hour}, {"other", 22 * time.Second}}, "", 0},
	} {
		s := NewStore()
		for _, r := range c.records {
			s.Put(start.Add(-r.age), Record{Key: Key{Member: "g/m"}, Node: r.node, Boot: 1, Seq: 1})
		}
		got, until := s.Choose(start, Key{Member: "g/m"}, "owner", m)
		node := ""
		if got != nil {
			node = got.Node
		}
		if node != c.want {
			t.Errorf("%s: follows %q, want %q", c.name, node, c.want)
		}
		if c.want != "" && until.Sub(start) != c.until {
			t.Errorf("%s: until %v, want %v", c.name, until.Sub(start), c.until)
		}
	}
}

// DEC-13: records are keyed (member, observer, boot, seq); a restarted observer's records beat those of its earlier life.
func TestDEC13_NewestPerObserver(t *testing.T) {
	s := NewStore()
	key := Key{Member: "g/m"}
	for _, c := range []struct {
		boot, seq uint64
		taken     bool
	}{{1, 5, true}, {1, 5, false}, {1, 4, false}, {1, 6, true}, {2, 1, true}, {1, 7, false}, {2, 2, true}} {
		if got := s.Put(start, Record{Key: key, Node: "a", Boot: c.boot, Seq: c.seq}); got != c.taken {
			t.Errorf("boot %d seq %d: taken %v", c.boot, c.seq, got)
		}
	}
	s.Put(start, Record{Key: key, Node: "b", Boot: 9, Seq: 9})
	if s.Len() != 2 {
		t.Errorf("%d records", s.Len())
	}
	s.Discard(key, "a")
	if got, _ := s.Choose(start, key, "a", &trunkgroup.Monitoring{Interval: time.Minute}); got == nil || got.Node != "b" {
		t.Errorf("after Discard: %+v", got)
	}
	s.Put(start.Add(time.Hour), Record{Key: key, Node: "c", Boot: 1, Seq: 1})
	s.Put(start.Add(time.Hour), Record{Key: Key{Member: "g/gone"}, Node: "c", Boot: 1, Seq: 1})
	s.Prune(start.Add(time.Minute), func(k Key) bool { return k == key })
	if s.Len() != 1 {
		t.Errorf("%d records after Prune", s.Len())
	}
}

// Rendezvous: a node that comes or goes moves only its own members, and the share is even.
func TestOwner(t *testing.T) {
	three := []Node{{"dal-1", "dallas"}, {"dal-2", "dallas"}, {"ash-1", "ashburn"}, {"dal-3", "dallas"}}
	two := []Node{{"dal-3", "dallas"}, {"dal-1", "dallas"}, {"ash-1", "ashburn"}}
	count := map[string]int{}
	for i := range 3000 {
		member := fmt.Sprintf("group-%d/member-%d", i/10, i)
		before, after := Owner(three, "dallas", member), Owner(two, "dallas", member)
		count[before]++
		if before != "dal-2" && after != before {
			t.Fatalf("%s moved from %s to %s", member, before, after)
		}
	}
	for _, node := range []string{"dal-1", "dal-2", "dal-3"} {
		if n := count[node]; n < 900 || n > 1100 {
			t.Errorf("%s owns %d of 3000", node, n)
		}
	}
	if got := Owner(three, "nowhere", "g/m"); got != "" {
		t.Errorf("a site without nodes is probed by %q", got)
	}
}

// DEC-12: isolated = all monitored members of at least three groups went silent within one interval and no peer node and no provider answers.
func TestDEC12_Isolated(t *testing.T) {
	const interval = 10 * time.Second
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	dead := func(first, last int) Silence {
		return Silence{Targets: 2, Silent: 2, First: at(first), Last: at(last)}
	}
	half := Silence{Targets: 2, Silent: 1, First: at(0), Last: at(0)}
	for _, c := range []struct {
		name   string
		groups []Silence
		peer   bool
		want   bool
	}{
		{"three groups at once", []Silence{dead(0, 1), dead(2, 3), dead(4, 5)}, false, true},
		{"a peer node answers", []Silence{dead(0, 1), dead(2, 3), dead(4, 5)}, true, false},
		{"two groups", []Silence{dead(0, 1), dead(2, 3)}, false, false},
		{"one member of the third answers", []Silence{dead(0, 1), dead(2, 3), half}, false, false},
		{"a provider answers", []Silence{dead(0, 1), dead(2, 3), dead(4, 5), {Provider: true, Targets: 3, Silent: 2}}, false, false},
		{"a silent provider counts as a group", []Silence{dead(0, 1), dead(2, 3), {Provider: true, Targets: 1, Silent: 1, First: at(4), Last: at(4)}}, false, true},
		{"one died long before", []Silence{dead(-3600, -3600), dead(2, 3), dead(4, 5)}, false, false},
		{"one died long before, three now", []Silence{dead(-3600, -3600), dead(2, 3), dead(4, 5), dead(9, 12)}, false, true},
		{"exactly one interval", []Silence{dead(0, 1), dead(5, 5), dead(9, 10)}, false, true},
		{"more than one interval", []Silence{dead(0, 1), dead(5, 5), dead(9, 11)}, false, false},
		{"a group that we do not probe", []Silence{dead(0, 1), dead(2, 3), {}}, false, false},
		{"nothing is monitored", nil, false, false},
	} {
		if got := Isolated(c.groups, c.peer, interval); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// DEC-12: "when more than panic_share (default 90 %) of all members of a site went down within two intervals".
func TestDEC12_Panicking(t *testing.T) {
	const interval = 10 * time.Second
	down := func(seconds ...int) (list []time.Time) {
		for _, s := range seconds {
			list = append(list, start.Add(time.Duration(s)*time.Second))
		}
		return list
	}
	for _, c := range []struct {
		name    string
		down    []time.Time
		members int
		want    bool
	}{
		{"none", nil, 10, false},
		{"no members", nil, 0, false},
		{"nine of ten is not more than 90 %", down(0, 1, 2, 3, 4, 5, 6, 7, 8), 10, false},
		{"ten of ten", down(9, 1, 2, 3, 4, 5, 6, 7, 8, 0), 10, true},
		{"over two intervals", down(0, 1, 2, 3, 4, 5, 6, 7, 8, 20), 10, true},
		{"over more than two intervals", down(0, 1, 2, 3, 4, 5, 6, 7, 8, 21), 10, false},
		{"one of twenty died before", down(-3600, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18), 20, true},
		{"the only one", down(0), 1, true},
		{"both, one after the other", down(0, 100), 2, false},
	} {
		if got := Panicking(c.down, c.members, PanicShare, interval); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Knobs end up equal on all nodes, whatever the order in which they arrive and however often.
func TestKnobsConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := []*Knobs{NewKnobs(), NewKnobs(), NewKnobs()}
		var sent []Knob
		for range rapid.IntRange(1, 12).Draw(t, "words") {
			i := rapid.IntRange(0, 2).Draw(t, "node")
			state := trunkgroup.AdminState(rapid.IntRange(0, 2).Draw(t, "state"))
			member := rapid.SampledFrom([]string{"g/a", "g/b"}).Draw(t, "member")
			sent = append(sent, nodes[i].Set(start, member, state, "ann", "", fmt.Sprint("node-", i), KnobLife))
			if rapid.Bool().Draw(t, "delivered") {
				nodes[rapid.IntRange(0, 2).Draw(t, "to")].Merge(start, sent[len(sent)-1])
			}
		}
		for _, n := range nodes {
			for _, k := range rapid.Permutation(append(sent, sent...)).Draw(t, "order") {
				n.Merge(start, k)
			}
		}
		for _, n := range nodes[1:] {
			if fmt.Sprint(n.All()) != fmt.Sprint(nodes[0].All()) {
				t.Fatalf("%v\n%v", n.All(), nodes[0].All())
			}
		}
	})
}

// DEC-25: an operator's word expires after 24 h unless renewed; a word taken back beats late copies of the old one.
func TestDEC25_KnobsExpire(t *testing.T) {
	k := NewKnobs()
	first := k.Set(start, "g/a", trunkgroup.AdminDisabled, "ann", "broken card", "dal-1", KnobLife)
	if got, ok := k.Of(start.Add(KnobLife-1), "g/a"); !ok || got.Reason != "broken card" {
		t.Errorf("before its end: %+v, %v", got, ok)
	}
	if _, ok := k.Of(start.Add(KnobLife), "g/a"); ok {
		t.Error("it holds after its end")
	}
	if got := k.Deadline(); got != start.Add(KnobLife) {
		t.Errorf("Deadline %v", got)
	}
	k.Set(start.Add(time.Hour), "g/a", trunkgroup.AdminDisabled, "ann", "still", "dal-2", KnobLife)
	if ended := k.Expire(start.Add(KnobLife)); len(ended) != 0 {
		t.Errorf("a renewed word ended: %v", ended)
	}
	k.Set(start.Add(2*time.Hour), "g/a", trunkgroup.AdminUp, "bob", "fixed", "dal-2", KnobLife)
	if k.Merge(start.Add(3*time.Hour), first) {
		t.Error("an old copy came back")
	}
	if _, ok := k.Of(start.Add(3*time.Hour), "g/a"); ok {
		t.Error("a word taken back holds")
	}
	if ended := k.Expire(start.Add(48 * time.Hour)); len(ended) != 0 || len(k.All()) != 0 || !k.Deadline().IsZero() {
		t.Errorf("ended %v, left %v", ended, k.All())
	}
	k.Set(start, "g/b", trunkgroup.AdminDraining, "ann", "", "dal-1", time.Minute)
	if ended := k.Expire(start.Add(time.Minute)); len(ended) != 1 || ended[0] != "g/b" {
		t.Errorf("ended %v", ended)
	}
	if k.Merge(start.Add(KnobLife), first) {
		t.Error("a word that is over is taken")
	}
}

// Whatever order records arrive in: what a reader follows is one observer's newest record as it was sent, the owner's if that is young, and
// never a mixture (DEC-13).
func TestDEC13_NeverMerged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mon := &trunkgroup.Monitoring{Enabled: true, Interval: 10 * time.Second, DownInterval: 5 * time.Second, Timeout: time.Second}
		store, key := NewStore(), Key{Member: "g/m"}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		sent := map[string]Held{} // the newest of each observer
		for range rapid.IntRange(1, 40).Draw(t, "records") {
			now = now.Add(time.Duration(rapid.IntRange(0, 8000).Draw(t, "ms")) * time.Millisecond)
			r := Record{
				Key: key, Node: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "observer"),
				Boot: rapid.Uint64Range(1, 3).Draw(t, "boot"), Seq: rapid.Uint64Range(1, 9).Draw(t, "seq"),
				State:  rapid.SampledFrom([]trunkgroup.State{trunkgroup.Active, trunkgroup.Trying, trunkgroup.Down}).Draw(t, "state"),
				Reason: rapid.StringN(1, 8, -1).Draw(t, "reason"), Changes: rapid.Uint64().Draw(t, "changes"),
			}
			was, known := sent[r.Node]
			fresh := !known || r.Boot > was.Boot || r.Boot == was.Boot && r.Seq > was.Seq
			if store.Put(now, r) != fresh {
				t.Fatalf("%+v after %+v: taken %v", r, was.Record, !fresh)
			}
			if fresh {
				sent[r.Node] = Held{r, now}
			}
			owner := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "owner")
			got, until := store.Choose(now, key, owner, mon)
			if got == nil {
				for _, h := range sent {
					if now.Sub(h.Received) < young(mon) {
						t.Fatalf("nobody is followed although %+v is young", h)
					}
				}
				continue
			}
			if *got != sent[got.Node] {
				t.Fatalf("followed %+v, which %s never said: %+v", *got, got.Node, sent[got.Node])
			}
			if h, ok := sent[owner]; ok && now.Sub(h.Received) < young(mon) && got.Node != owner {
				t.Fatalf("followed %s, the owner %s has a young record", got.Node, owner)
			}
			if !until.After(now) {
				t.Fatal("the choice ended before it was made")
			}
		}
	})
}
