package deck

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func bookOf(t testing.TB, spec trunkgroup.DeckSpec, decks ...Named) *Book {
	t.Helper()
	return NewBook(Sources{Plans: []trunkgroup.RoutePlanSpec{{Name: "p", Deck: &spec}, {Name: "other"}}, Decks: decks})
}

func costs(t testing.TB, text string) *Deck {
	t.Helper()
	d, err := ReadCSV(strings.NewReader("prefix,carrier_id,group,rate,effective_from,effective_to\n"+text), CSV{Currency: "USD"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Rows begin and end on the second, also for numbers that were asked for before.
func TestBook_EffectiveDates(t *testing.T) {
	d := costs(t, "1214,a,ga,0.02,,2026-12-01\n1214,a,ga,0.01,2026-12-01,\n1214,b,gb,0.015,,\n")
	b := bookOf(t, trunkgroup.DeckSpec{Name: "d"}, Named{Name: "d", Deck: d})
	first := func(now time.Time) string { return b.Routes("p", "+12145550100", now).Routes[0].CarrierID }
	for range 2 {
		if got := first(epoch.Add(-time.Second)); got != "b" {
			t.Errorf("a second before the first is %s", got)
		}
		if got := first(epoch); got != "a" {
			t.Errorf("on the second the first is %s", got)
		}
	}
	q, _ := b.Quote("p", "+12145550100", epoch.Add(-time.Hour))
	if !q.Until.Equal(epoch) || len(q.Carriers) != 2 || len(q.Carriers[1].Next) != 1 || q.Carriers[1].Next[0].Price.String() != "0.01" {
		t.Errorf("%+v", q)
	}
}

// What is left out is told with its reason, in a quote and to the caller's log.
func TestBook_WhyLeftOut(t *testing.T) {
	buy := costs(t, "1,a,ga,0.01,,\n1214,a,ga,block,,\n1,b,gb,0.02,,\n1,c,gc,0.011,,\n1,d,gd,0.012,,\n1,e,ge,0.5,2027-01-01,\n44,a,ga,0.01,,\n")
	sell := read(t, "prefix,rate,currency\n1,0.0125,USD\n", CSV{})
	decks := []Named{{Name: "buy", Deck: buy}, {Name: "sell", Deck: sell}}
	b := bookOf(t, trunkgroup.DeckSpec{Name: "buy", Sell: "sell", MinMargin: "0.0005", MaxRoutes: 1}, decks...)
	q, ok := b.Quote("p", "+12145550100", epoch)
	var got []string
	for _, l := range q.Carriers {
		got = append(got, l.Carrier+": "+l.LeftOut)
	}
	want := "c: |d: max_routes is reached|b: it costs 0.0075 more than it is sold for|a: the carrier takes no calls there|e: it has no row that is in effect"
	if text := strings.Join(got, "|"); !ok || text != want || q.Routes != 1 || q.Carriers[0].Margin != "0.0015 (12.0%)" {
		t.Errorf("%s, want %s; %+v", text, want, q.Carriers[0])
	}
	set := b.Routes("p", "+12145550100", epoch)
	if r := set.Routes[0]; len(set.Routes) != 1 || r.GatewayGroup != "gc" || r.Rate != 0.011 || !r.Rated || r.Currency != "USD" ||
		fmt.Sprint(r.CDRFields) != "[{deck buy} {deck_prefix 1} {sell_prefix 1} {sell_rate 0.0125}]" {
		t.Errorf("%+v", set)
	}
	for number, why := range map[string]string{
		"+44123": "deck sell has no price for the number that is in effect", "+33123": "deck buy has no row for the number that is in effect",
		"911": "rate decks are for E.164 numbers", "+": "rate decks are for E.164 numbers",
	} {
		if set := b.Routes("p", number, epoch); len(set.Routes) > 0 || set.Absent || set.Why != why {
			t.Errorf("%s: %+v, want %q", number, set, why)
		}
	}
	if q, _ := b.QuoteDeck("sell", "+1214", epoch); q.Sold == nil || q.Sold.Price.String() != "0.0125" {
		t.Errorf("%+v", q)
	}
	if q, _ := b.QuoteDeck("buy", "+1214", epoch); q.Routes != 3 {
		t.Errorf("%+v", q)
	}
}

// S011: without the decks that a plan names nobody decides.
func TestS011_DecksThatAreNotThere(t *testing.T) {
	buy, sell := costs(t, "1,a,ga,0.01,,\n"), read(t, "prefix,rate,currency\n1,0.0125,EUR\n", CSV{})
	decks := []Named{{Name: "buy", Deck: buy}, {Name: "sell", Deck: sell}}
	for why, spec := range map[string]trunkgroup.DeckSpec{
		`there is no rate deck "gone"`:                                     {Name: "gone"},
		`rate deck "sell" says what customers pay, not what carriers cost`: {Name: "sell"},
		`there is no rate deck "dear"`:                                     {Name: "buy", Sell: "dear"},
		`rate deck "buy" is in USD and "sell" in EUR`:                      {Name: "buy", Sell: "sell"},
	} {
		b := bookOf(t, spec, decks...)
		set := b.Routes("p", "+1214", epoch)
		if !set.Absent || set.Why != why || len(b.Faults()) != 1 || b.Faults()[0] != (Fault{"p", why}) {
			t.Errorf("%+v, %v, want %q", set, b.Faults(), why)
		}
	}
	if set := (*Book)(nil).Routes("p", "+1214", epoch); !set.Absent {
		t.Errorf("%+v", set)
	}
	if b := bookOf(t, trunkgroup.DeckSpec{Name: "buy"}, decks...); len(b.Faults()) != 0 || !b.Routes("other", "+1214", epoch).Absent {
		t.Errorf("%v", b.Faults())
	}
}

// What a book keeps goes over to the next one only while nothing has changed.
func TestBook_KeepsWhatHolds(t *testing.T) {
	d := Named{Name: "d", Edition: 1, Deck: costs(t, "1,a,ga,0.01,,\n1,b,gb,0.02,,\n")}
	plans := []trunkgroup.RoutePlanSpec{{Name: "p", Deck: &trunkgroup.DeckSpec{Name: "d"}}}
	one := NewBook(Sources{Plans: plans, Decks: []Named{d}})
	set := one.Routes("p", "+1214", epoch)
	same := NewBook(Sources{Plans: []trunkgroup.RoutePlanSpec{{Name: "p", Deck: &trunkgroup.DeckSpec{Name: "d"}}}, Decks: []Named{d}, Before: one})
	if same.Routes("p", "+1215", epoch) != set {
		t.Error("equal decks and plans began anew")
	}
	scored := NewBook(Sources{Plans: plans, Decks: []Named{d}, Before: one, Scores: Scores{"a": 1}})
	if scored.Routes("p", "+1214", epoch) == set {
		t.Error("new scores were passed over")
	}
	d.Deck, d.Edition = costs(t, "1,b,gb,0.02,,\n"), 2
	if next := NewBook(Sources{Plans: plans, Decks: []Named{d}, Before: same}); len(next.Routes("p", "+1214", epoch).Routes) != 1 {
		t.Error("a new deck was passed over")
	}
}

// large is a deck as the largest ones are: carriers with the codes of the whole world.
func large(t testing.TB, rows int) *Deck {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	b := &builder{currency: "USD"}
	const carriers = 10
	for i := range rows {
		carrier := i % carriers
		digits := fmt.Sprintf("%d", 1_000_000+i/carriers*7919%9_000_000)[:4+i/carriers%4]
		p, _ := parsePrefix(digits)
		row := packed{price: trunkgroup.Price(1+r.IntN(100_000)) * 1000}
		name := fmt.Sprintf("carrier-%02d", carrier)
		if err := b.add(p, name, Terms{Group: name, Increment: 1}, row, uint32(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	d, _ := b.deck()
	return d
}

// A call takes no memory once somebody has called there, and shards may ask at once.
func TestBook_AllocatesNothing(t *testing.T) {
	b := bookOf(t, trunkgroup.DeckSpec{Name: "d"}, Named{Name: "d", Deck: large(t, 20_000)})
	b.Routes("p", "+12145550100", epoch)
	if n := testing.AllocsPerRun(1000, func() { b.Routes("p", "+12145550100", epoch) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				b.Routes("p", fmt.Sprintf("+%d", 1_000_000+(g+i)*37), epoch)
			}
		})
	}
	wg.Wait()
}

func BenchmarkRoutes(b *testing.B) {
	for _, rows := range []int{10_000, 1_000_000} {
		d := large(b, rows)
		book := bookOf(b, trunkgroup.DeckSpec{Name: "d"}, Named{Name: "d", Deck: d})
		numbers := make([]string, 4096)
		for i := range numbers {
			numbers[i] = fmt.Sprintf("+%d5550100", 1_000_000+i*2161%9_000_000)
		}
		b.Run(fmt.Sprintf("rows=%d/kept", rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				book.Routes("p", numbers[7], epoch)
			}
		})
		b.Run(fmt.Sprintf("rows=%d/spread", rows), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				book.Routes("p", numbers[i%len(numbers)], epoch)
			}
		})
		b.Run(fmt.Sprintf("rows=%d/new", rows), func(b *testing.B) {
			k := book.desks["p"]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				n, _ := parseNumber(numbers[i%len(numbers)])
				j := k.judge(k.spotOf(n), at(epoch))
				k.routeSet(&j)
			}
		})
	}
}

func BenchmarkMillionRows(b *testing.B) {
	d := large(b, 1_000_000)
	encoded, err := d.Encode()
	if err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	if err := d.Export(&text, func() error { return nil }); err != nil {
		b.Fatal(err)
	}
	b.Run("csv", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ReadCSV(strings.NewReader(text.String()), CSV{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(text.Len())/float64(d.Len()), "octets/row")
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Encode(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(encoded))/float64(d.Len()), "octets/row")
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(encoded); err != nil {
				b.Fatal(err)
			}
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		kept, err := Decode(encoded)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(kept.Len()), "heap-octets/row")
	})
}
