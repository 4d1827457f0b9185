package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maintained is the scene with a window over pbx-1 that begins in a minute and lasts an hour.
func maintained(t *testing.T) (in Input, begin, end time.Time) {
	in = scene(t)
	begin, end = in.Now.Add(time.Minute), in.Now.Add(time.Hour)
	d := in.Table.Document()
	d.TrunkGroups[0].Maintenance = []trunkgroup.WindowSpec{{
		Start: begin.Format(time.RFC3339), End: end.Format(time.RFC3339), Members: []string{"pbx-1"}, Reason: "new power supply",
	}}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 2})
	if err != nil {
		t.Fatal(err)
	}
	in.Table = table
	return in, begin, end
}

func TestMaintenanceDrainsAMember(t *testing.T) {
	in, begin, end := maintained(t)
	if b := Build(in); !b.Until.Equal(begin) || b.Members[0].State != trunkgroup.Unknown {
		t.Errorf("before: until %s, %+v", b.Until, b.Members[0])
	}
	in.Now = begin
	b := Build(in)
	s := b.Members[0]
	want := "maintenance until " + end.UTC().Format(time.RFC3339) + ": new power supply"
	if b.View.States[0] != trunkgroup.Draining || s.Reason != want || !s.Since.Equal(begin) || !s.Until.Equal(end) || !b.Until.Equal(end) {
		t.Errorf("within: until %s, %+v", b.Until, s)
	}
	if b.View.States[1] == trunkgroup.Draining {
		t.Error("the other one drains too")
	}
	// An operator's word stands above it.
	in.Knobs.Set(in.Now, "acme/pbx-1", trunkgroup.AdminDisabled, "op", "broken", "dal-1", 10*time.Minute)
	if s := Build(in).Members[0]; s.State != trunkgroup.Disabled || s.Reason != "broken" || !s.Until.Equal(begin.Add(10*time.Minute)) {
		t.Errorf("with a knob: %+v", s)
	}
	in.Now = end
	if b := Build(in); b.View.States[0].Administrative() || !b.Members[0].Until.IsZero() {
		t.Errorf("after: %+v", b.Members[0])
	}
}

// Members that are out of use are neither for nor against a panic.
func TestMaintenanceMakesNoPanic(t *testing.T) {
	in, begin, _ := maintained(t)
	in.PanicShare = 0.5
	in.put(1, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Down, time.Second)
	in.put(2, Key{Member: "acme/pbx-2"}, "dal-1", trunkgroup.Down, time.Second)
	if b := Build(in); !b.View.Panic["dallas"] {
		t.Fatal("two of three are not a panic")
	}
	in.Now = begin
	in.put(3, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Down, time.Second)
	in.put(4, Key{Member: "acme/pbx-2"}, "dal-1", trunkgroup.Down, time.Second)
	if b := Build(in); b.View.Panic["dallas"] {
		t.Error("one of two is a panic: the one under maintenance was counted")
	}
}

// A member that only calls in has no verdict and no share in a panic.
func TestInboundMembersAreNotJudged(t *testing.T) {
	in := scene(t)
	d := in.Table.Document()
	d.TrunkGroups[1].Sources = nil
	d.TrunkGroups[1].Members = append(d.TrunkGroups[1].Members,
		trunkgroup.MemberSpec{ID: "in-1", Site: "dallas", Address: "198.51.100.9", Direction: trunkgroup.DirectionIn},
		trunkgroup.MemberSpec{ID: "in-2", Site: "dallas", Address: "198.51.100.10", Direction: trunkgroup.DirectionIn})
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 2})
	if err != nil {
		t.Fatal(err)
	}
	in.Table, in.PanicShare = table, 0.6
	in.put(1, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Down, time.Second)
	in.put(2, Key{Member: "acme/pbx-2"}, "dal-1", trunkgroup.Down, time.Second)
	b := Build(in)
	s := b.Members[table.Member("carrier/in-1").Index]
	if s.State != trunkgroup.Active || !strings.Contains(s.Reason, "only calls in") || len(s.Targets) != 0 {
		t.Errorf("%+v", s)
	}
	if !b.View.Panic["dallas"] {
		t.Error("two of three are no panic: members that only call in were counted")
	}
}
