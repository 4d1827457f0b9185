package closing

import (
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

var (
	now  = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	live = []Node{{"ash-1", "ashburn"}, {"ash-2", "ashburn"}, {"dal-2", "dallas"}, {"dal-3", "dallas"}}
)

// skew is by how much the owner's clock is wrong.
const skew = -5 * time.Minute

func record(id string) *cdr.Record {
	answer := now.Add(skew)
	return &cdr.Record{
		CallID: id, Kind: cdr.KindCall, Version: cdr.OwnerVersion(0), Final: true, Node: "dal-1", Site: "dallas",
		Start: answer.Add(-3 * time.Second), Answer: answer, SIPCode: 200,
	}
}

// call was answered at now, and its node heard for the last time 90 s later.
func call(id string, closings int) Call {
	return Call{
		Value: AppendEntry(nil, closings, 10*time.Second, record(id).AppendBinary(nil)), Since: now.Add(10 * time.Second),
		Heard: now.Add(90 * time.Second), Lost: now.Add(91 * time.Second),
	}
}

func none(string) int { return 0 }

func decide(t *testing.T, node string, at time.Duration, c Call, closings func(string) int, live []Node) (Verdict, *cdr.Record) {
	t.Helper()
	v, r, err := New(Config{Node: node, Site: "dallas"}).Decide(now.Add(at), c, closings, live)
	if err != nil {
		t.Fatal(err)
	}
	return v, r
}

// DEC-24: a survivor closes only after 60 s, with closed_by and without final, and
// the end is the last heartbeat, whatever the owner's clock says.
func TestDEC24_SurvivorsRecord(t *testing.T) {
	c := call("x", 0)
	closer := Survivors(live, "dallas", Key(cdr.KindCall, "x"))[0]
	if v, _ := decide(t, closer, 91*time.Second+DefaultAfter-1, c, none, live); v != Wait {
		t.Errorf("before the minute is over: %v", v)
	}
	v, r := decide(t, closer, 91*time.Second+DefaultAfter, c, none, live)
	if v != Write {
		t.Fatalf("got %v", v)
	}
	if r.Final || r.ClosedBy != "survivor" || r.Version != 1 || r.Node != closer || r.HangupCause != cdr.CauseNodeLost || r.HangupParty != cdr.System {
		t.Errorf("%+v", r)
	}
	if r.Billable() != 90*time.Second || !r.End.Equal(now.Add(skew+90*time.Second)) {
		t.Errorf("billed %v, end %v", r.Billable(), r.End)
	}
	if Closings(r) != 1 || r.Version >= cdr.OwnerVersion(0) {
		t.Errorf("version %d", r.Version)
	}
}

// DEC-24: one node closes a call; those of the owner's site come first.
func TestDEC24_OneSurvivor(t *testing.T) {
	count := map[string]int{}
	for i := range 200 {
		c := call(string(rune('A'+i%26))+string(rune('a'+i/26)), 0)
		writers := 0
		for _, n := range live {
			if v, _ := decide(t, n.Name, time.Hour, c, none, live); v == Write {
				count[n.Name]++
				writers++
			}
		}
		if writers != 1 {
			t.Fatalf("%d nodes write call %d", writers, i)
		}
	}
	at := 91*time.Second + DefaultAfter
	count = map[string]int{}
	for i := range 200 {
		c := call(string(rune('A'+i%26))+string(rune('a'+i/26)), 0)
		for _, n := range live {
			if v, _ := decide(t, n.Name, at, c, none, live); v == Write {
				count[n.Name]++
			}
		}
	}
	if count["ash-1"]+count["ash-2"] != 0 || count["dal-2"] < 60 || count["dal-3"] < 60 {
		t.Errorf("calls of dallas are closed by %v", count)
	}
	if v, _ := decide(t, "ash-1", at, call("x", 0), none, live[:1]); v != Write {
		t.Error("without a node in the owner's site nobody writes")
	}
}

// DEC-24: when the survivor does not close in time, it is the next one's turn.
func TestDEC24_TheTurnPasses(t *testing.T) {
	c, order := call("x", 0), Survivors(live, "dallas", Key(cdr.KindCall, "x"))
	for i, at := range []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute} {
		at += 91*time.Second + DefaultAfter
		for _, n := range live {
			v, _ := decide(t, n.Name, at, c, none, live)
			if want := n.Name == order[i%4]; (v == Write) != want {
				t.Errorf("%v after the first turn %s gets %v", at, n.Name, v)
			}
		}
	}
}

// DEC-24: a call that was closed is not closed again, unless its owner came back with
// it, which its entry then says.
func TestDEC24_ClosedOnceAndAgain(t *testing.T) {
	once := func(key string) int {
		if key != "call/x" {
			t.Errorf("asked for %q", key)
		}
		return 1
	}
	if v, _ := decide(t, "dal-2", time.Hour, call("x", 0), once, live); v != Used {
		t.Errorf("a closed call: %v", v)
	}
	order := Survivors(live, "dallas", "call/x")
	v, r := decide(t, order[0], 91*time.Second+DefaultAfter, call("x", 1), once, live)
	if v != Write || r.Version != 3 || Closings(r) != 2 {
		t.Errorf("a call that came back: %v %+v", v, r)
	}
}

func TestDecideOnRubbish(t *testing.T) {
	c := call("x", 0)
	for _, bad := range [][]byte{nil, {1}, {1, 0, 0}, {2, 0, 0}, c.Value[:4]} {
		b := c
		b.Value = bad
		if v, _, err := New(Config{Node: "a"}).Decide(now.Add(time.Hour), b, none, live); v != Used || err == nil {
			t.Errorf("%x: %v, %v", bad, v, err)
		}
	}
}

func TestSurvivorsMoveLittle(t *testing.T) {
	for i := range 100 {
		key := Key(cdr.KindHandoff, string(rune('A'+i)))
		all, fewer := Survivors(live, "dallas", key), Survivors(live[:3], "dallas", key)
		all = slices.DeleteFunc(all, func(n string) bool { return n == "dal-3" })
		if !slices.Equal(all, fewer) {
			t.Errorf("%q: %v without dal-3 is %v", key, all, fewer)
		}
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add(call("x", 3).Value)
	f.Fuzz(func(t *testing.T, b []byte) {
		ParseCount(b)
		n, answered, rest, err := ParseEntry(b)
		if err != nil {
			return
		}
		m, again, tail, err := ParseEntry(AppendEntry(nil, n, answered, rest))
		if err != nil || m != n || again != answered || string(tail) != string(rest) {
			t.Fatalf("%x came back as %d %v %x %v", b, m, again, tail, err)
		}
	})
}
