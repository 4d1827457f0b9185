package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// judged is the scene where a customer demands something of its PBXs, two in Dallas and one in Ashburn.
func judged(t *testing.T, bars map[string]trunkgroup.Bar) Input {
	in := scene(t)
	d := in.Table.Document()
	d.TrunkGroups[0].Quality = &trunkgroup.QualitySpec{MinAnswerRatio: 30}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 2})
	if err != nil {
		t.Fatal(err)
	}
	in.Table = table
	in.Bars = func(now time.Time, m *trunkgroup.Member) (trunkgroup.Bar, bool) {
		b, ok := bars[m.Key]
		return b, ok && now.Before(b.Until)
	}
	return in
}

func order(b *Board, site string) (dialable []string, causes map[string]string) {
	causes = map[string]string{}
	for _, c := range trunkgroup.Plan(nil, b.Table.Group("acme"), site, b.View, trunkgroup.Draw{}) {
		if c.Dialable {
			dialable = append(dialable, c.Member.ID)
		} else {
			causes[c.Member.ID] = c.Cause
		}
	}
	return dialable, causes
}

func TestD10_QualityBarsAMember(t *testing.T) {
	bar := trunkgroup.Bar{Since: start.Add(-time.Minute), Until: start.Add(time.Minute), Reason: "answer ratio 12 % of 60 calls is below 30 %"}
	in := judged(t, map[string]trunkgroup.Bar{"acme/pbx-1": bar})
	b := Build(in)
	dialable, causes := order(b, "dallas")
	if len(dialable) != 1 || dialable[0] != "pbx-2" || causes["pbx-1"] != "quality" {
		t.Errorf("calls go to %v, not to %v", dialable, causes)
	}
	s := b.Members[0]
	if s.State != trunkgroup.Cooldown || s.Reason != bar.Reason || !s.Since.Equal(bar.Since) || !s.Until.Equal(bar.Until) || !b.Until.Equal(bar.Until) {
		t.Errorf("until %s, %+v", b.Until, s)
	}
	if len(b.Spared()) != 0 {
		t.Error("somebody is spared")
	}
	// An emergency call asks for no quality (DEC-17).
	b.View = b.View.ForEmergency()
	if dialable, _ := order(b, "dallas"); len(dialable) != 2 {
		t.Errorf("an emergency call goes to %v", dialable)
	}
	in.Now = bar.Until
	if dialable, _ := order(Build(in), "dallas"); len(dialable) != 2 {
		t.Errorf("after the cooldown calls go to %v", dialable)
	}
}

// A bad member is better than none: the last one that could take calls stays, and is told of.
func TestD10_QualityLeavesTheLastMember(t *testing.T) {
	older := trunkgroup.Bar{Since: start.Add(-2 * time.Minute), Until: start.Add(time.Minute), Reason: "older"}
	newer := trunkgroup.Bar{Since: start.Add(-time.Minute), Until: start.Add(2 * time.Minute), Reason: "newer"}
	for name, c := range map[string]struct {
		bars map[string]trunkgroup.Bar
		down string
		want string // who gets calls
	}{
		"the one that is bad for longest goes first": {map[string]trunkgroup.Bar{"acme/pbx-1": newer, "acme/pbx-2": older}, "", "pbx-1"},
		"the other one is down":                      {map[string]trunkgroup.Bar{"acme/pbx-1": older}, "acme/pbx-2", "pbx-1"},
		"one is barred and down, the other barred":   {map[string]trunkgroup.Bar{"acme/pbx-1": older, "acme/pbx-2": newer}, "acme/pbx-2", "pbx-1"},
	} {
		in := judged(t, c.bars)
		if c.down != "" {
			in.put(1, Key{Member: c.down}, "dal-1", trunkgroup.Down, time.Second)
		}
		b := Build(in)
		dialable, _ := order(b, "dallas")
		spared := b.Spared()
		if strings.Join(dialable, " ") != c.want || len(spared) != 1 || spared[0].Member.ID != c.want || spared[0].State == trunkgroup.Cooldown {
			t.Errorf("%s: calls go to %v, spared %+v", name, dialable, spared)
		}
		if c.down != "" && b.Members[1].State != trunkgroup.Down {
			t.Errorf("%s: %+v", name, b.Members[1])
		}
	}
	in := judged(t, map[string]trunkgroup.Bar{"acme/pbx-3": older})
	if dialable, _ := order(Build(in), "ashburn"); len(dialable) != 1 {
		t.Error("the only one of a site is barred")
	}
}

// A bar holds when probe verdicts are not believed.
func TestD10_QualityHoldsInPanic(t *testing.T) {
	in := judged(t, map[string]trunkgroup.Bar{"acme/pbx-1": {Since: start, Until: start.Add(time.Minute), Reason: "bad"}})
	in.PanicShare = 0.5
	in.put(1, Key{Member: "acme/pbx-1"}, "dal-1", trunkgroup.Down, time.Second)
	in.put(2, Key{Member: "acme/pbx-2"}, "dal-1", trunkgroup.Down, time.Second)
	b := Build(in)
	dialable, causes := order(b, "dallas")
	if !b.View.Panic["dallas"] || strings.Join(dialable, " ") != "pbx-2" || causes["pbx-1"] != "quality" {
		t.Errorf("panic %v: calls go to %v, not to %v", b.View.Panic, dialable, causes)
	}
}

// Groups without monitoring are judged as well.
func TestD10_QualityWithoutMonitoring(t *testing.T) {
	in := judged(t, map[string]trunkgroup.Bar{"acme/pbx-1": {Since: start, Until: start.Add(time.Minute), Reason: "bad"}})
	d := in.Table.Document()
	d.TrunkGroups[0].Monitoring = trunkgroup.MonitoringSpec{}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 3})
	if err != nil {
		t.Fatal(err)
	}
	in.Table = table
	b := Build(in)
	if dialable, _ := order(b, "dallas"); strings.Join(dialable, " ") != "pbx-2" || b.Members[0].State != trunkgroup.Cooldown {
		t.Errorf("calls go to %v, %+v", dialable, b.Members[0])
	}
}
