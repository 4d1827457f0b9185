package deck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// epoch is when the tests take place; rows begin and end some hours around it.
var epoch = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// naive answers as docs/decks.md says, row by row.
type naive struct {
	buy, sell []Row // sell nil: nothing is sold by a deck
	spec      trunkgroup.DeckSpec
	scores    Scores
}

// best is the row of the longest prefix that covers the number and is in effect; of several
// the one that began last.
func best(rows []Row, number string, now time.Time) (found *Row) {
	for i := range rows {
		r := &rows[i]
		digits := strings.TrimSuffix(r.Prefix, "*")
		if !strings.HasPrefix(number[1:], digits) || now.Before(r.From) || !r.To.IsZero() && !now.Before(r.To) {
			continue
		}
		if found == nil {
			found = r
			continue
		}
		had := len(strings.TrimSuffix(found.Prefix, "*"))
		if len(digits) > had || len(digits) == had && r.From.After(found.From) {
			found = r
		}
	}
	return found
}

// routes lists "carrier prefix price" in order.
func (n *naive) routes(number string, now time.Time) []string {
	by := map[string][]Row{}
	for _, r := range n.buy {
		by[r.Carrier] = append(by[r.Carrier], r)
	}
	var list []Row
	for _, rows := range by {
		r := best(rows, number, now)
		if r == nil || r.Blocked {
			continue
		}
		if n.sell != nil {
			sold := best(n.sell, number, now)
			if sold == nil || !n.spec.Margin().Leaves(sold.Price, r.Price) {
				continue
			}
		}
		list = append(list, *r)
	}
	key := func(r Row) string {
		score, _ := n.scores.of(r.Carrier)
		cost, quality, priority := fmt.Sprintf("%020d", r.Price), fmt.Sprintf("%06.2f", 100-score), fmt.Sprintf("%09d", r.Priority)
		switch n.spec.Order {
		case trunkgroup.DeckByQuality:
			return quality + cost + priority + r.Carrier
		case trunkgroup.DeckByPriority:
			return priority + cost + quality + r.Carrier
		}
		return cost + quality + priority + r.Carrier
	}
	slices.SortFunc(list, func(a, b Row) int { return strings.Compare(key(a), key(b)) })
	var out []string
	for _, r := range list[:min(len(list), n.spec.Most())] {
		out = append(out, fmt.Sprintf("%s %s %s", r.Carrier, r.Prefix, r.Price))
	}
	return out
}

// drawRows makes a deck with few digits, carriers and times, so that much meets.
func drawRows(t *rapid.T, label string, sells bool) []Row {
	type place struct {
		prefix, carrier string
		from            time.Time
	}
	taken := map[place]bool{}
	var rows []Row
	hour := rapid.IntRange(-3, 3)
	for range rapid.IntRange(0, 30).Draw(t, label) {
		r := Row{Prefix: rapid.StringMatching(`[12]{0,4}`).Draw(t, "prefix"), Price: trunkgroup.Price(rapid.IntRange(0, 5).Draw(t, "price"))}
		if r.Prefix == "" {
			r.Prefix = "*"
		}
		if !sells {
			r.Carrier = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "carrier")
			r.Terms = Terms{Group: "g-" + r.Carrier, Priority: uint32(rapid.IntRange(0, 2).Draw(t, "priority"))}
			if r.Blocked = rapid.IntRange(0, 5).Draw(t, "blocked") == 0; r.Blocked {
				r.Price = 0
			}
		}
		if rapid.Bool().Draw(t, "begins") {
			r.From = epoch.Add(time.Duration(hour.Draw(t, "from")) * time.Hour)
		}
		if rapid.Bool().Draw(t, "ends") {
			r.To = epoch.Add(time.Duration(4+hour.Draw(t, "to")) * time.Hour)
		}
		p := place{r.Prefix, r.Carrier, r.From}
		if taken[p] || !r.To.IsZero() && !r.From.Before(r.To) {
			continue
		}
		taken[p] = true
		rows = append(rows, r)
	}
	return rows
}

// A book answers as the rows read one by one do, whatever it kept from calls before, and over
// an encoding and a list.
func TestBook_AgreesWithNaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &naive{
			buy: drawRows(t, "buy", false),
			spec: trunkgroup.DeckSpec{
				Name: "buy", Order: rapid.SampledFrom([]string{"", "cost", "quality", "priority"}).Draw(t, "order"),
				MaxRoutes: rapid.IntRange(0, 3).Draw(t, "most"),
			},
		}
		if rapid.Bool().Draw(t, "scored") {
			n.scores = Scores{"a": 40, "b": 60.5, "c": 60.5}
		}
		buy, err := New(false, "USD", n.buy)
		if err != nil {
			t.Fatal(err)
		}
		decks := []Named{{Name: "buy", Deck: again(t, buy)}}
		if rapid.Bool().Draw(t, "sells") {
			n.spec.Sell, n.spec.MinMargin = "sell", rapid.SampledFrom([]string{"", "0.000000001", "50%"}).Draw(t, "margin")
			n.sell = append([]Row{}, drawRows(t, "sell", true)...)
			sell, err := New(true, "USD", n.sell)
			if err != nil {
				t.Fatal(err)
			}
			decks = append(decks, Named{Name: "sell", Deck: again(t, sell)})
		}
		b := NewBook(Sources{Plans: []trunkgroup.RoutePlanSpec{{Name: "p", Deck: &n.spec}}, Decks: decks, Scores: n.scores})
		for range 40 {
			number := "+" + rapid.StringMatching(`[12]{1,6}`).Draw(t, "number")
			now := epoch.Add(time.Duration(rapid.IntRange(-5, 9).Draw(t, "now")) * time.Hour).Add(-time.Duration(rapid.IntRange(0, 1).Draw(t, "second")) * time.Second)
			want := n.routes(number, now)
			set := b.Routes("p", number, now)
			var got []string
			for i := range set.Routes {
				r := &set.Routes[i]
				got = append(got, fmt.Sprintf("%s %s %v", r.CarrierID, r.CDRFields[1].Value, trunkgroup.Price(r.Rate*1e9+0.5)))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s at %s: %v, want %v", number, now, got, want)
			}
			q, _ := b.Quote("p", number, now)
			if q.Routes != len(want) || (q.Why == "") != (len(want) > 0) || (set.Why == "") != (len(want) > 0) {
				t.Fatalf("%s: the quote has %d routes (%q), the call %d (%q)", number, q.Routes, q.Why, len(want), set.Why)
			}
		}
	})
}

// again sends a deck through its encoding and through its list.
func again(t *rapid.T, d *Deck) *Deck {
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := decoded.Export(&text, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	read, err := ReadCSV(strings.NewReader(text.String()), CSV{Currency: d.currency})
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if b2, err := read.Encode(); err != nil || string(b2) != string(b) {
		t.Fatalf("what was exported and read again is another deck: %v\n%s", err, text.String())
	}
	return read
}

// The words of digits sort, cover and read as the digits do.
func TestPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{0,15}`)
		a, b := digits.Draw(t, "a"), digits.Draw(t, "b")
		pa, okA := parsePrefix(a)
		pb, okB := parsePrefix(b)
		if !okA || !okB || pa.len() != len(a) || !pa.valid() {
			t.Fatalf("%q: %t, length %d", a, okA, pa.len())
		}
		if (pa < pb) != (a < b) || pa.covers(pb) != strings.HasPrefix(b, a) {
			t.Fatalf("%q and %q: before %t, covers %t", a, b, pa < pb, pa.covers(pb))
		}
		if a != "" && pa.String() != a {
			t.Fatalf("%q became %q", a, pa)
		}
	})
	for _, bad := range []string{"1234567890123456", "+1", "1a", " 1"} {
		if p, ok := parsePrefix(bad); ok {
			t.Errorf("%q is read as %s", bad, p)
		}
	}
}
