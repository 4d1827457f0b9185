package cdrindex

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

// The database finds exactly what the question says of each record, in its order.
func TestSearchAgreesWithTheQuestion(t *testing.T) {
	r := newRig(t, nil)
	of := func(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(append(words, "")) }
	numbers := of("+12145550100", "+12145550101", "+1214", "alice", "2145550100")
	groups, sites, legs := of("g1", "g2", "g3"), of("dallas", "ashburn"), of("l1", "l2", "l3")
	causes := of("NORMAL_CLEARING", "USER_BUSY", "NODE_LOST")
	records := rapid.Custom(func(t *rapid.T) cdr.Record {
		c := cdr.Record{
			CallID: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "l1"}).Draw(t, "id"),
			Kind:   rapid.SampledFrom([]cdr.Kind{cdr.KindCall, cdr.KindHandoff}).Draw(t, "kind"), Version: rapid.IntRange(1, 4).Draw(t, "version"),
			Site: sites.Draw(t, "site"), EgressSite: sites.Draw(t, "egress"), Customer: groups.Draw(t, "customer"),
			IngressGroup: groups.Draw(t, "in"), EgressGroup: groups.Draw(t, "out"), CarrierID: groups.Draw(t, "carrier"),
			Caller: numbers.Draw(t, "caller"), CallerRaw: numbers.Draw(t, "raw"), Called: numbers.Draw(t, "called"), CalledRaw: numbers.Draw(t, "called raw"),
			SIPCallID: legs.Draw(t, "leg"), EgressCallID: legs.Draw(t, "egress leg"),
			Start: began.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "start")) * time.Millisecond), SIPCode: rapid.SampledFrom([]int{200, 486, 503}).Draw(t, "code"),
			HangupCause: causes.Draw(t, "cause"), HangupQ850: rapid.SampledFrom([]int{0, 16, 17}).Draw(t, "q850"),
			Attempts: []cdr.Attempt{{N: 1, CarrierID: groups.Draw(t, "tried"), Dialed: rapid.Bool().Draw(t, "dialed"), EgressCallID: legs.Draw(t, "attempt")}},
		}
		if rapid.Bool().Draw(t, "answered") {
			c.Answer = c.Start.Add(time.Second)
		}
		return c
	})
	questions := rapid.Custom(func(t *rapid.T) cdrquery.Query {
		q := cdrquery.Query{
			CallID: of("a", "l1", "l2", "", "", "").Draw(t, "call_id"), Number: of("+12145550100", "1214*", "", "").Draw(t, "number"),
			Caller: of("2145550100", "+1214*", "alice", "", "").Draw(t, "caller"), Called: of("+1214", "1*", "", "", "").Draw(t, "called"),
			Customer: of("g1", "", "").Draw(t, "customer"), Carrier: of("g1", "g2", "", "").Draw(t, "carrier"), Site: of("dallas", "").Draw(t, "site"),
			Cause: of("user_busy", "16", "", "").Draw(t, "cause"), Code: of("5xx", "200", "", "").Draw(t, "code"), Limit: 1000,
		}
		if rapid.Bool().Draw(t, "from?") {
			q.From = began.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "from")) * time.Microsecond)
		}
		if rapid.Bool().Draw(t, "to?") {
			q.To = began.Add(time.Duration(rapid.IntRange(3001, 6000).Draw(t, "to")) * time.Microsecond)
		}
		if rapid.Bool().Draw(t, "answered?") {
			yes := rapid.Bool().Draw(t, "yes")
			q.Answered = &yes
		}
		return q
	})
	r.mustLook()
	rapid.Check(t, func(t *rapid.T) {
		if _, err := r.store.prune(r.t.Context(), "SELECT id, json FROM record"); err != nil {
			t.Fatal(err)
		}
		var rows []*cdrquery.Row
		book := map[string]*cdrquery.Row{}
		for _, c := range rapid.SliceOfN(records, 1, 15).Draw(t, "records") {
			text, err := c.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			row, err := cdrquery.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
			if key := c.CallID + string(c.Kind); row.Supersedes(book[key]) {
				book[key] = row
			}
		}
		if _, err := r.store.add(r.t.Context(), rows, position{print: "x"}); err != nil {
			t.Fatal(err)
		}
		q := questions.Draw(t, "question")
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, row := range book {
			if q.Match(row) {
				want = append(want, string(row.Raw))
			}
		}
		got, order := found(t, r.Index, &q)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v:\ngot  %q\nwant %q", q, got, want)
		}
		if !slices.IsSortedFunc(order, func(a, b time.Time) int { return b.Compare(a) }) {
			t.Fatalf("not the latest first: %v", order)
		}
	})
}

// found asks by small pages.
func found(t *rapid.T, i *Index, q *cdrquery.Query) (texts []string, order []time.Time) {
	most := Bounds{rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 3000).Draw(t, "bytes")}
	for from := (Cursor{}); ; {
		page, err := i.Search(t.Context(), q, from, most)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range page.Rows {
			row, err := cdrquery.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			texts, order = append(texts, string(text)), append(order, row.Start)
		}
		if from = page.Next; from == (Cursor{}) {
			return texts, order
		}
	}
}
