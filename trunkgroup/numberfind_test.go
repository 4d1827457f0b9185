package trunkgroup

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// numbersDocument is two customers with numbers, and a carrier.
func numbersDocument(acme, globex []string) *Document {
	d := testDocument()
	d.TrunkGroups[0].Numbers = acme
	d.TrunkGroups = append(d.TrunkGroups, GroupSpec{
		Name: "globex-in", Role: OriginationCustomer, Numbers: globex,
		Members: []MemberSpec{{ID: "g1", Site: "dallas", Address: "198.51.100.77:5060"}},
	})
	return d
}

// The pattern that covers the fewest numbers wins over document and table
// together; expressions come last, in document order.
func TestFindNumber(t *testing.T) {
	d := numbersDocument(
		[]string{"+1214*", "+12145550100..+12145550199", "+13000", `/^\+1(?:800|888)[0-9]{7}$/`, `/^\+44.*$/`},
		[]string{"+12145550150", "+1300*", `/^\+18.*$/`, `/^\+1[0-9]*$/`},
	)
	table := compile(t, d).WithNumbers(numberTable(t,
		"+12145550120", "globex-in", "+12145550130..+12145550139", "globex-in", "+1214555*", "globex-in",
		"+12145550140", "gone", "+18005550100", "acme-in", "+1888*", "carrier-a", "+13001*", "acme-in",
	))
	for called, want := range map[string]string{
		"+12145550120":      "globex-in by +12145550120 of the number table",
		"+12145550121":      "acme-in by +12145550100..+12145550199",
		"+12145550133":      "globex-in by +12145550130..+12145550139 of the number table",
		"+12145550140":      "acme-in by +12145550100..+12145550199", // its group is not there: the row owns nothing
		"+12145550150":      "globex-in by +12145550150",
		"+12145550200":      "globex-in by +1214555* of the number table",
		"+12145560200":      "acme-in by +1214*",
		"+13000":            "acme-in by +13000",
		"+13001":            "acme-in by +13001* of the number table",
		"+13002":            "globex-in by +1300*",
		"+18005550100":      "acme-in by +18005550100 of the number table",
		"+18885550100":      `acme-in by /^\+1(?:800|888)[0-9]{7}$/`, // a carrier owns no numbers
		"+18775550100":      `globex-in by /^\+18.*$/`,
		"+19725550100":      `globex-in by /^\+1[0-9]*$/`,
		"+442079460000":     `acme-in by /^\+44.*$/`,
		"+492079460000":     "",
		"2145550120":        "",
		"alice":             "",
		"":                  "",
		"+1800555010000000": "",
	} {
		got := ""
		m, ok := table.FindNumber([]byte(called))
		if ok {
			got = m.Group.Name + " by " + m.By()
		}
		if got != want || table.MatchNumber([]byte(called)) != m.Group {
			t.Errorf("%s: %q, want %q", called, got, want)
		}
		all := table.NumberCovers([]byte(called))
		if len(all) == 0 && ok || len(all) > 0 && all[0] != m {
			t.Errorf("%s is covered by %v", called, all)
		}
		if n := testing.AllocsPerRun(100, func() { table.FindNumber([]byte(called)) }); n != 0 {
			t.Errorf("%s: %v allocations", called, n)
		}
	}
	all := table.NumberCovers([]byte("+12145550133"))
	var by []string
	for _, m := range all {
		by = append(by, m.By())
	}
	if got := strings.Join(by, ", "); got != `+12145550130..+12145550139 of the number table, +12145550100..+12145550199, +1214555* of the number table, +1214*, /^\+1[0-9]*$/` {
		t.Error(got)
	}
}

// Table and document together are what one map of both says.
func TestFindNumberEqualsAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var texts [2][]string
		model, rows := naive{}, []NumberChange(nil)
		for range rapid.IntRange(0, 25).Draw(t, "patterns") {
			p := drawPattern(t)
			if _, ok := model[p]; ok || model.overlap(p) {
				continue
			}
			customer := rapid.IntRange(0, 1).Draw(t, "customer")
			model[p] = []string{"acme-in", "globex-in"}[customer]
			if rapid.Bool().Draw(t, "in table") {
				rows = append(rows, NumberChange{p, model[p]})
			} else {
				texts[customer] = append(texts[customer], p.String())
			}
		}
		d := numbersDocument(texts[0], texts[1])
		table, err := Compile(d, Version{Cluster: "test", Revision: 1})
		if err != nil {
			t.Fatal(err)
		}
		numbers, err := (*NumberTable)(nil).With(rows)
		if err != nil {
			t.Fatal(err)
		}
		table = table.WithNumbers(numbers)
		if faults := table.NumberConflicts(numbers); faults != nil {
			t.Fatal(faults)
		}
		for range 10 {
			called := "+" + rapid.StringMatching(`[0-2]{1,5}`).Draw(t, "called")
			n, _ := pack(called)
			want, _ := model.lookup(n)
			m, _ := table.FindNumber([]byte(called))
			if m.Pattern != want || m.Group != nil && m.Group.Name != model[want] {
				t.Fatalf("%s belongs to %v, want %s of %v", called, m, want, model)
			}
		}
	})
}

func TestWithNumbersLeavesTheTable(t *testing.T) {
	d := numbersDocument(nil, []string{"+1"})
	table := compile(t, d)
	if got := fmt.Sprintln(len(table.Reached()), table.MatchNumber([]byte("+12")) == nil); got != "1 true\n" {
		t.Error(got)
	}
	with := table.WithNumbers(numberTable(t, "+12", "acme-in"))
	if got := fmt.Sprintln(len(with.Reached()), with.MatchNumber([]byte("+12")).Name, with.Numbers().Len(), with.Version() == table.Version()); got != "2 acme-in 1 true\n" {
		t.Error(got)
	}
	if got := fmt.Sprintln(len(table.Reached()), table.MatchNumber([]byte("+12")) == nil, table.Numbers() == nil); got != "1 true true\n" {
		t.Error(got)
	}
	without := with.WithNumbers(nil)
	if got := fmt.Sprintln(len(without.Reached()), without.MatchNumber([]byte("+12")) == nil); got != "1 true\n" {
		t.Error(got)
	}
}

func TestNumberConflicts(t *testing.T) {
	d := numbersDocument([]string{"+1214", "+1214*", "+1000..+1999", "+3000..+3999"}, []string{"+55"})
	n := numberTable(t,
		"+1214", "globex-in", "+1214*", "globex-in", "+55", "globex-in", // the last is said twice and means the same
		"+1500..+2500", "globex-in", "+3100..+3200", "globex-in", "+2900..+3000", "acme-in",
		"+77", "carrier-a", "+78", "gone", "+79", "gone",
	)
	want := []string{
		`number table: 1 pattern belongs to group "carrier-a", which has role pstn-provider; give them to a group of role origination-customer or take them out first, or keep this group as it is`,
		`number table: 2 patterns belong to group "gone", which is not in the document; give them to a group of role origination-customer or take them out first, or keep this group as it is`,
		`trunk_groups[0].numbers[0]: +1214 of acme-in belongs to globex-in in the number table; keep the number in one place`,
		`trunk_groups[0].numbers[1]: +1214* of acme-in belongs to globex-in in the number table; keep the number in one place`,
		`trunk_groups[0].numbers[2]: +1000..+1999 of acme-in overlaps with +1500..+2500 of globex-in in the number table; part the ranges where they overlap`,
	}
	table := compile(t, d)
	if faults := table.NumberConflicts(n); faults.Error() != strings.Join(want, "\n") {
		t.Errorf("%s", faults.Error())
	}
	more := make([]NumberChange, 0, 2000)
	for i := range 2000 {
		more = append(more, NumberChange{mustPattern(t, fmt.Sprintf("+99%04d", i)), "gone"})
	}
	// The same faults when the document is the smaller one.
	big, err := n.With(more)
	if err != nil {
		t.Fatal(err)
	}
	if faults := table.NumberConflicts(big); len(faults) != len(want) || faults[2].String() != want[2] {
		t.Errorf("%s", faults.Error())
	}
	if faults := table.NumberConflicts(nil); faults != nil {
		t.Error(faults)
	}
}

func TestNumberConflictsAreBounded(t *testing.T) {
	var numbers []string
	var rows []NumberChange
	for i := range 1000 {
		numbers = append(numbers, fmt.Sprintf("+99%04d", i))
		rows = append(rows, NumberChange{mustPattern(t, numbers[i]), "globex-in"}, NumberChange{mustPattern(t, "+88"+numbers[i][1:]), fmt.Sprint("gone", i)})
	}
	n, err := (*NumberTable)(nil).With(rows)
	if err != nil {
		t.Fatal(err)
	}
	if faults := compile(t, numbersDocument(numbers, nil)).NumberConflicts(n); len(faults) != 2*maxNumberConflicts+1 {
		t.Errorf("%d faults", len(faults))
	}
}
