package trunkgroup

import "testing"

func TestD07_Assume(t *testing.T) {
	table := compile(t, testDocument())
	v := NewView(table)
	v.Panic["dallas"] = true
	q := Query{
		Site: "dallas", Called: []byte("+12145550123"),
		Source: SourceKey{Local: addrPort("203.0.113.1:5060"), Source: addrPort("192.0.2.1:5060"), Transport: UDP},
	}
	for text, want := range map[string]string{
		"acme-in/d1=down":     "down",
		"acme-in/d1=draining": "draining",
		"acme-in/d1=disabled": "disabled",
		"acme-in/d1=active":   "",
		"acme-in/d1=weight=7": "",
	} {
		a, err := ParseAssumption(text)
		if err != nil || a.String() != text {
			t.Fatalf("%s: %v, %v", text, a, err)
		}
		next, err := v.Assume(table, []Assumption{a})
		if err != nil {
			t.Fatal(err)
		}
		e := Explain(table, next, q)
		for _, o := range e.Order {
			if o.Member == "d1" && (o.Cause != want || text == "acme-in/d1=weight=7" && o.Weight != 7) {
				t.Errorf("%s: %+v", text, o)
			}
		}
	}
	if before := Explain(table, v, q); before.Order[0].Cause != "" || v.Weights != nil {
		t.Error("an assumption has changed what is so")
	}
	if _, err := v.Assume(table, []Assumption{{Member: "acme-in/nobody", Word: "down"}}); err == nil {
		t.Error("a member that is not there")
	}
}

func TestParseAssumption(t *testing.T) {
	for _, text := range []string{"", "acme-in/d1", "=down", "acme-in/d1=unknown", "acme-in/d1=weight=0", "acme-in/d1=weight=x", "site:ashburn=active", "acme-in/d1=weight=99999999"} {
		if a, err := ParseAssumption(text); err == nil {
			t.Errorf("%q: %+v", text, a)
		}
	}
	if a, err := ParseAssumption("site:ashburn=down"); err != nil || a.Site != "ashburn" || a.String() != "site:ashburn=down" {
		t.Errorf("%+v, %v", a, err)
	}
}

// What is known of members is carried to another revision by their keys, whatever
// their order there.
func TestD07_TransferByKey(t *testing.T) {
	old := compile(t, testDocument())
	v := NewView(old)
	v.States[old.Member("acme-in/d2").Index] = Down
	v.Weigh(old.Member("acme-in/d1"), 9)
	d := testDocument()
	m := d.TrunkGroups[0].Members
	m[0], m[1] = m[1], m[0]
	d.TrunkGroups[0].Members = append([]MemberSpec{{ID: "new", Site: "dallas", Address: "198.51.100.77"}}, m...)
	table := compile(t, d)
	next := v.Transfer(old, table)
	for key, want := range map[string]State{"acme-in/d1": v.States[old.Member("acme-in/d1").Index], "acme-in/d2": Down, "acme-in/new": NewView(table).States[table.Member("acme-in/new").Index]} {
		if got := next.States[table.Member(key).Index]; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if w := next.weight(table.Member("acme-in/d1")); w != 9 {
		t.Errorf("weight %d", w)
	}
}

func FuzzParseAssumption(f *testing.F) {
	f.Add("acme-in/d1=weight=7")
	f.Add("site:ashburn=down")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAssumption(text)
		if err != nil {
			return
		}
		if b, err := ParseAssumption(a.String()); err != nil || b != a {
			t.Fatalf("%q: %+v, then %+v, %v", text, a, b, err)
		}
	})
}
