package cdrquery

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/cdr"
)

func row(t *testing.T, r cdr.Record) *Row {
	t.Helper()
	text, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// What questions look into is what the record says.
func TestParseReadsWhatRecordsWrite(t *testing.T) {
	r := row(t, cdr.Record{
		CallID: "x", Kind: cdr.KindCall, Version: 2, Final: true, Node: "dal-1", Site: "dallas", EgressSite: "ashburn", HandedOff: true,
		Direction: cdr.Outbound, Customer: "acme", IngressGroup: "in", EgressGroup: "out", EgressMember: "gw", CarrierID: "c1",
		Caller: "+1", CallerRaw: "001", Called: "+2", CalledRaw: "002;npdi", SIPCallID: "a", EgressCallID: "b",
		Start: at, Answer: at.Add(time.Second), End: at.Add(time.Minute), SIPCode: 200, HangupCause: "NORMAL_CLEARING", HangupQ850: 16,
		Rate: 0.0042, Rated: true, Currency: "USD", RouteSource: "lcr",
		Attempts: []cdr.Attempt{{N: 1, Group: "g", Member: "m", Dialed: true, Code: 200, CarrierID: "c2", EgressCallID: "b"}},
	})
	if r.Version != 2 || !r.Final || r.Node != "dal-1" || r.Site != "dallas" || r.EgressSite != "ashburn" || !r.HandedOff ||
		r.Customer != "acme" || r.Code != 200 || r.Q850 != 16 || !r.Start.Equal(at) || !r.Answered() || r.Billsec != 59 ||
		r.Rate != "0.0042" || r.Cost == "" || r.Currency != "USD" || r.Source != "lcr" {
		t.Errorf("%+v", r)
	}
	if got := r.Legs(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("legs %v", got)
	}
	if got := r.Carriers(); !slices.Equal(got, []string{"in", "out", "c1", "c2", "g"}) {
		t.Errorf("carriers %v", got)
	}
	if got := r.CalledNumbers(); !slices.Equal(got, []string{"2", "002"}) {
		t.Errorf("called %v", got)
	}
}

func TestNumber(t *testing.T) {
	for in, want := range map[string]string{
		"+1 (310) 555-0100": "13105550100", "13105550100;npdi;rn=1": "13105550100", "sip:Acme@X": "sip:acme@x", "": "", "+": "",
		strings.Repeat("1", 100): strings.Repeat("1", 64),
	} {
		if got := Number(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	if p := ParsePattern(" +1310* "); p != (Pattern{"1310", true}) {
		t.Errorf("%+v", p)
	}
}

func TestCheckRefusesQuestionsWithoutSense(t *testing.T) {
	for _, q := range []Query{
		{Code: "9xx"},
		{Code: "1xx"},
		{Code: "abc"},
		{Code: "199"},
		{Code: "xx"},
		{Limit: -1},
		{Limit: MaxLimit + 1},
		{Number: "*"},
		{Caller: "+"},
		{From: at, To: at},
		{CallID: strings.Repeat("x", 300)},
	} {
		if err := q.Check(); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	q := Query{Code: "4XX", Number: "+1*"}
	if err := q.Check(); err != nil || q.Limit != DefaultLimit {
		t.Errorf("%v, %d", err, q.Limit)
	}
}

// DEC-24: of each call id and kind the record with the highest version counts, whichever
// node wrote it; the part of the peer site stands under its call.
func TestDEC24_BookJoinsTheRecordsOfAllNodes(t *testing.T) {
	base := cdr.Record{CallID: "x", Kind: cdr.KindCall, Version: 1, Node: "ash-1", Site: "ashburn", ClosedBy: cdr.BySurvivor, HangupCause: cdr.CauseNodeLost, Start: at, Answer: at, End: at.Add(time.Minute)}
	owner := base
	owner.Version, owner.Node, owner.Site, owner.ClosedBy, owner.HangupCause = 2, "dal-1", "dallas", "", cdr.CauseCleared
	part := owner
	part.Kind, part.Node, part.Site, part.EgressCallID = cdr.KindHandoff, "ash-2", "ashburn", "leg-there"
	lone := part
	lone.CallID, lone.Start = "y", at.Add(time.Second)
	var b Book
	for _, r := range []cdr.Record{part, base, owner, base, lone} {
		b.Add(row(t, r))
	}
	calls, more := b.Calls(&Query{Limit: 10})
	if len(calls) != 2 || more || calls[0].ID() != "y" || calls[0].Record != nil || calls[1].Record.Version != 2 || len(calls[1].Handoffs) != 1 {
		t.Fatalf("%+v", calls)
	}
	if calls, _ := b.Calls(&Query{Cause: cdr.CauseNodeLost, Limit: 10}); len(calls) != 0 {
		t.Error("a record that was superseded is found")
	}
	if calls, _ := b.Calls(&Query{CallID: "leg-there", Limit: 10}); len(calls) != 2 {
		t.Errorf("%d calls by the Call-ID of a leg in the peer site", len(calls))
	}
	if calls, more := b.Calls(&Query{Limit: 1}); len(calls) != 1 || !more {
		t.Error("the limit is not kept")
	}
}

// Whatever the order in which nodes answer, and however often, the answer is the same.
func TestDEC24_BookDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *Row {
			return &Row{
				CallID: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id"),
				Kind:   rapid.SampledFrom([]cdr.Kind{cdr.KindCall, cdr.KindHandoff, cdr.KindInterim}).Draw(t, "kind"), Version: rapid.IntRange(1, 3).Draw(t, "version"),
				Node: rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "node"), Site: rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "site"),
				Start: at, End: at.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "end")) * time.Second),
			}
		}), 1, 12).Draw(t, "rows")
		q := Query{Limit: 100}
		words := func(order []*Row) (text []string) {
			var b Book
			for _, r := range order {
				b.Add(r)
			}
			calls, _ := b.Calls(&q)
			for _, c := range calls {
				if c.Record != nil {
					text = append(text, c.Record.key())
				}
				for _, h := range c.Handoffs {
					text = append(text, h.key())
				}
			}
			return text
		}
		other := rapid.Permutation(append(slices.Clone(rows), rows[0])).Draw(t, "order")
		if a, b := words(rows), words(other); !slices.Equal(a, b) {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

// key is what a record shows of itself.
func (r *Row) key() string {
	return strings.Join([]string{r.CallID, string(r.Kind), string(rune('0' + r.Version)), r.Node, r.End.Format(time.RFC3339)}, " ")
}

// Records come from disks and from other nodes.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"call_id":"x","kind":"call","version":1,"start_time":"2026-03-01T12:00:00.000Z","attempts":[{"n":1}],"rate":0.1}`))
	f.Add([]byte(`{"call_id":"x","kind":"handoff","caller":"+1;x","rate":"1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		q := Query{Number: "1*", Code: "5xx", Cause: "16"}
		q.Match(r)
		for _, word := range slices.Concat(r.Legs(), r.Callers(), r.CalledNumbers(), r.Carriers()) {
			if word == "" {
				t.Fatal("an empty word")
			}
		}
	})
}
