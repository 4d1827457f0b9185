package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/cdrindex"
	"github.com/tandem-sbc/tandem/monitor/cdrquery"
)

// shelf answers questions as a node with an index does, from a list.
type shelf []*cdrquery.Row

func (s shelf) answer(q recordQuestion) (page recordPage) {
	if q.Query != nil {
		for n := int(q.From.ID); n < len(s); n++ {
			if len(page.Rows) == 2 {
				page.Next = cdrindex.Cursor{ID: int64(n)}
				return page
			}
			if q.Query.Match(s[n]) {
				page.Rows = append(page.Rows, s[n].Raw)
			}
		}
		return page
	}
	for _, r := range s {
		if r.CallID == q.IDs[0] {
			page.Rows = append(page.Rows, r.Raw)
		}
	}
	page.Done = 1
	return page
}

func shelved(t *testing.T, records ...cdr.Record) (s shelf) {
	t.Helper()
	for i := range records {
		text, err := records[i].AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		row, err := cdrquery.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, row)
	}
	return s
}

func searched(t *testing.T, n int) cdr.Record {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 60-n, 0, time.UTC)
	return cdr.Record{CallID: fmt.Sprintf("call-%d", n), Kind: cdr.KindCall, Version: 2, Node: "dal-1", Site: "dallas", Start: at, Answer: at, End: at.Add(time.Minute), SIPCode: 200}
}

func lookFor(q cdrquery.Query, shelves map[string]shelf, nodes ...recordNode) admin.CallRecords {
	if q.Limit == 0 {
		q.Limit = 100
	}
	s := &recordSearch{query: q, nodes: nodes, ask: func(ctx context.Context, node string, q recordQuestion) (recordPage, error) {
		held, ok := shelves[node]
		if !ok {
			<-ctx.Done()
			return recordPage{}, context.Cause(ctx)
		}
		return held.answer(q), nil
	}}
	return s.run(context.Background())
}

func foundIDs(t *testing.T, r admin.CallRecords) (ids []string) {
	t.Helper()
	for _, c := range r.Calls {
		var k struct {
			ID string `json:"call_id"`
		}
		if err := json.Unmarshal(append(c.Record, []byte(nil)...), &k); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, fmt.Sprintf("%s+%d", k.ID, len(c.Handoffs)))
	}
	return ids
}

var (
	dal1 = recordNode{name: "dal-1", site: "dallas"}
	ash1 = recordNode{name: "ash-1", site: "ashburn"}
)

// DEC-24: rows of both sites are joined: the part of the peer site stands under its call,
// and what a survivor wrote is void when the owner's record is there.
func TestDEC24_SearchJoinsTheRowsOfAllSites(t *testing.T) {
	call, part, survivor, owner := searched(t, 1), searched(t, 1), searched(t, 2), searched(t, 2)
	part.Kind, part.Node, part.Site, part.SIPCode = cdr.KindHandoff, "ash-1", "ashburn", 503
	survivor.Version, survivor.ClosedBy, survivor.HangupCause, survivor.Node, survivor.Site = 1, cdr.BySurvivor, cdr.CauseNodeLost, "ash-1", "ashburn"
	shelves := map[string]shelf{"dal-1": shelved(t, call, owner), "ash-1": shelved(t, part, survivor)}
	r := lookFor(cdrquery.Query{}, shelves, dal1, ash1)
	if got := fmt.Sprint(foundIDs(t, r)); got != "[call-1+1 call-2+0]" || !r.Complete || r.More {
		t.Errorf("%s, %+v", got, r)
	}
	if r := lookFor(cdrquery.Query{Cause: cdr.CauseNodeLost}, shelves, dal1, ash1); len(r.Calls) != 0 {
		t.Errorf("a superseded record is shown: %+v", r)
	}
	// The part does not match, and is shown under its call all the same.
	if got := fmt.Sprint(foundIDs(t, lookFor(cdrquery.Query{Code: "200"}, shelves, dal1, ash1))); got != "[call-1+1 call-2+0]" {
		t.Errorf("%s", got)
	}
}

func TestSearchKeepsTheLimitOverPages(t *testing.T) {
	var all []cdr.Record
	for n := range 9 {
		all = append(all, searched(t, n))
	}
	shelves := map[string]shelf{"dal-1": shelved(t, all[0], all[2], all[4], all[6], all[8]), "ash-1": shelved(t, all[1], all[3], all[5], all[7])}
	r := lookFor(cdrquery.Query{Limit: 5}, shelves, dal1, ash1)
	if got := fmt.Sprint(foundIDs(t, r)); got != "[call-0+0 call-1+0 call-2+0 call-3+0 call-4+0]" || !r.More {
		t.Errorf("%s, more %v", got, r.More)
	}
	if r := lookFor(cdrquery.Query{}, shelves, dal1, ash1); len(r.Calls) != 9 || r.More {
		t.Errorf("%d calls, more %v", len(r.Calls), r.More)
	}
}

// An answer says which node is missing in it, and is there in bounded time.
func TestSearchNamesNodesThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		shelves := map[string]shelf{"dal-1": shelved(t, searched(t, 1))}
		r := lookFor(cdrquery.Query{}, shelves, dal1, ash1, recordNode{name: "ash-2", site: "ashburn", away: "it cannot be reached"})
		if got := fmt.Sprint(foundIDs(t, r)); got != "[call-1+0]" || r.Complete {
			t.Errorf("%s, %+v", got, r)
		}
		missing := map[string]string{}
		for _, n := range r.Nodes {
			missing[n.Name] = n.Missing
		}
		if missing["dal-1"] != "" || !strings.Contains(missing["ash-1"], "in time") || missing["ash-2"] != "it cannot be reached" {
			t.Errorf("%v", missing)
		}
		if took := time.Since(begun); took > searchTime {
			t.Errorf("it took %v", took)
		}
	})
}

func TestSearchMistrustsAnswers(t *testing.T) {
	s := &recordSearch{query: cdrquery.Query{Limit: 10}, nodes: []recordNode{dal1, ash1}, ask: func(_ context.Context, node string, q recordQuestion) (recordPage, error) {
		switch {
		case node == "ash-1" && q.Query != nil:
			return recordPage{Rows: []json.RawMessage{[]byte(`{"no":"record"}`)}}, nil
		case node == "dal-1" && q.IDs != nil:
			return recordPage{Done: -1}, nil
		case node == "dal-1":
			return shelved(t, searched(t, 1)).answer(q), nil
		}
		return recordPage{}, errors.New("asked again")
	}}
	r := s.run(t.Context())
	if len(r.Calls) != 1 || !strings.Contains(r.Nodes[0].Missing, "does not read") || !strings.Contains(r.Nodes[1].Missing, "no sense") {
		t.Errorf("%+v", r.Nodes)
	}
}

// A record that no frame holds does not take others with it.
func TestFitFrame(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("x", maxRecordFrame) + `"`)
	var page recordPage
	if err := json.Unmarshal(fitFrame(recordPage{Rows: []json.RawMessage{[]byte(`"a"`), long}}), &page); err != nil || len(page.Rows) != 1 || page.Left != 1 {
		t.Errorf("%+v, %v", page, err)
	}
	many := recordPage{}
	for range 5 {
		many.Rows = append(many.Rows, long[:100<<10])
	}
	if body := fitFrame(many); len(body) > maxRecordFrame || !json.Valid(body) {
		t.Errorf("%d octets", len(body))
	}
}
