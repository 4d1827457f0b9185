package trunkgroup

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func explained(e Explanation) string {
	var b strings.Builder
	for _, s := range e.Steps {
		b.WriteString(s.Name + ": " + s.Text + "\n")
	}
	return b.String()
}

func TestExplainInbound(t *testing.T) {
	table := compile(t, testDocument())
	v := NewView(table)
	v.States[table.Member("acme-in/d2").Index] = Down
	q := Query{
		Site: "dallas", Called: []byte("+12145550123"),
		Source: SourceKey{Local: addrPort("203.0.113.1:5060"), Source: addrPort("192.0.2.1:5060"), Transport: UDP},
	}
	e := Explain(table, v, q)
	want := `source: 192.0.2.1:5060 over udp matches 192.0.2.1/32 port 5060 udp of provider carrier-a
route: acme-in owns the number by +12145550100..+12145550199: inbound
plan: acme-in in dallas by load-balance: 1 to dial, 1 not
hand-off: ashburn may be asked next, its members of acme-in: 1 unknown
`
	if got := explained(e); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if e.Direction != "inbound" || e.Ingress != "carrier-a" || e.Code != 0 || len(e.Order) != 2 || e.Order[0].Cause != "down" || e.Order[1].Addr != "198.51.100.1:5060" {
		t.Errorf("%+v", e)
	}
	q.Called = []byte("+13105550100")
	if e := Explain(table, v, q); e.Code != 404 || e.Order != nil {
		t.Errorf("nobody's number: %+v", e)
	}
	if _, err := json.Marshal(e); err != nil {
		t.Error(err)
	}
	q.Source.Source = addrPort("192.0.2.1:5062")
	want = `source: 192.0.2.1:5062 over udp matches no source
source: near: 192.0.2.1/32 port 5060 udp of provider carrier-a
source: nobody is identified: 401 with a challenge
`
	if e := Explain(table, v, q); e.Code != 401 || explained(e) != want {
		t.Errorf("another port: %d\n%swant\n%s", e.Code, explained(e), want)
	}
}

// What else covers a called number is said behind what won, the narrowest first, and
// not without end.
func TestD07_ExplainSaysWhatElseCoversANumber(t *testing.T) {
	d := numbersDocument(
		[]string{"+1214*", "+12145550100..+12145550199", "+121*", `/^\+12.*$/`}, []string{"+12145550150", "+12*", `/^\+1[0-9]*$/`},
	)
	table := compile(t, d).WithNumbers(numberTable(t, "+1214555*", "globex-in", "+12145550150..+12145550159", "acme-in"))
	q := Query{Site: "dallas", Called: []byte("+12145550155"), Source: SourceKey{Local: addrPort("203.0.113.1:5060"), Source: addrPort("192.0.2.1:5060"), Transport: UDP}}
	steps := func() (list []string) {
		for _, s := range Explain(table, NewView(table), q).Steps {
			if s.Name == "route" {
				list = append(list, s.Text)
			}
		}
		return list
	}
	want := []string{
		"acme-in owns the number by +12145550150..+12145550159 of the number table: inbound",
		"+12145550100..+12145550199 of acme-in covers it too and is not used",
		"+1214555* of the number table of globex-in covers it too and is not used",
		"+1214* of acme-in covers it too and is not used",
		"+121* of acme-in covers it too and is not used",
		"+12* of globex-in covers it too and is not used",
		"and more; see: tandem number show +12145550155",
	}
	if got := steps(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	q.Called = []byte("+13105550100")
	if got := steps(); len(got) != 1 {
		t.Errorf("nothing else covers it: %v", got)
	}
}

func TestExplainOutbound(t *testing.T) {
	table := compile(t, testDocument())
	v := NewView(table)
	v.Panic["dallas"] = true
	q := Query{Site: "dallas", Realm: "sip.example.com", Username: "acme", Called: []byte("2145550100")}
	q.Code = func(error) int { return 484 }
	q.Normalise = func(_ Numbering, user []byte) ([]byte, error) {
		if !bytes.HasPrefix(user, []byte("2")) {
			return nil, errors.New("unknown form")
		}
		return append([]byte("+1"), user...), nil
	}
	got := explained(Explain(table, v, q))
	for _, want := range []string{
		`digest user "acme" of realm "sip.example.com" belongs to group acme-out`,
		`"2145550100" as group acme-out writes numbers is +12145550100`,
		"route plan domestic, prefix +1214: carrier-b",
		"0 to dial, 1 not", "dallas is in panic",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for name, c := range map[string]struct {
		called, user string
		code         int
	}{
		"unread":       {"alice", "acme", 484},
		"unidentified": {"2145550100", "nobody", 401},
	} {
		q.Called, q.Username = []byte(c.called), c.user
		if e := Explain(table, v, q); e.Code != c.code {
			t.Errorf("%s: %+v", name, e)
		}
	}
	q = Query{Site: "dallas", Realm: "sip.example.com", Username: "acme", Called: []byte("+442079460000")}
	if e := Explain(table, v, q); e.Code != 404 || e.Direction != "outbound" {
		t.Errorf("no route: %+v", e)
	}
}

// DEC-18: "provider and customer on one tuple: a called number owned by an
// origination group -> inbound, else outbound. explain shows both".
func TestDEC18_ExplainBoth(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[4].Sources = []SourceSpec{{IP: "192.0.2.1", Port: 5060}, {IP: "192.0.2.0/24"}}
	table := compile(t, d)
	q := Query{Site: "dallas", Source: SourceKey{Source: addrPort("192.0.2.1:5060"), Transport: UDP}}
	for called, want := range map[string]string{"+12145550100": "inbound", "+13105550100": "outbound"} {
		q.Called = []byte(called)
		e := Explain(table, NewView(table), q)
		text := explained(e)
		if e.Direction != want || !strings.Contains(text, "of provider carrier-a of customer globex-out") ||
			!strings.Contains(text, "the wider 192.0.2.0/24 any port udp of customer globex-out fits too") {
			t.Errorf("%s: %s\n%s", called, e.Direction, text)
		}
	}
}

func TestExplainTechPrefix(t *testing.T) {
	d := testDocument()
	d.TrunkGroups[4].Sources = []SourceSpec{{IP: "203.0.113.9", TechPrefix: "9001", Local: "203.0.113.1:5060"}}
	table := compile(t, d)
	e := Explain(table, NewView(table), Query{
		Site: "dallas", Called: []byte("9001+13105550100"),
		Source: SourceKey{Local: addrPort("203.0.113.1:5060"), Source: addrPort("203.0.113.9:5060"), Transport: UDP},
	})
	if e.Called != "+13105550100" || !strings.Contains(explained(e), "at 203.0.113.1:5060 tech prefix 9001") {
		t.Errorf("%+v", e)
	}
}
