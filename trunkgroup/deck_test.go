package trunkgroup

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func deckDocument(s DeckSpec) *Document {
	d := testDocument()
	d.RoutePlans[0].Deck = &s
	return d
}

func TestDeckSpec_Faults(t *testing.T) {
	good := DeckSpec{Name: "cost", Sell: "retail", MinMargin: "10%", Order: DeckByQuality, MaxRoutes: 5}
	if faults := deckDocument(good).Validate(); len(faults) > 0 {
		t.Fatal(faults)
	}
	for want, s := range map[string]DeckSpec{
		"route_plans[0].deck.name: is missing":                                {},
		"is the deck of what carriers cost":                                   {Name: "cost", Sell: "cost"},
		`"10 %" is no margin`:                                                 {Name: "cost", Sell: "retail", MinMargin: "10 %"},
		`"100%" is no margin`:                                                 {Name: "cost", Sell: "retail", MinMargin: "100%"},
		"route_plans[0].deck.min_margin: means nothing without sell":          {Name: "cost", MinMargin: "0.01"},
		`route_plans[0].deck.order: "price" is no order; use cost, quality, `: {Name: "cost", Order: "price"},
		"65 is out of range":                                                  {Name: "cost", MaxRoutes: 65},
	} {
		faults := deckDocument(s).Validate()
		if len(faults) != 1 || !strings.Contains(faults[0].String(), want) {
			t.Errorf("got %v, want %q", faults, want)
		}
	}
	d := deckDocument(good)
	d.RoutePlans[0].Decision = &DecisionSpec{URL: "http://127.0.0.1/route"}
	d.RoutePlans[0].Routes = append(d.RoutePlans[0].Routes, RouteSpec{Prefix: "*", Providers: []string{"carrier-a"}})
	text := d.Validate().Error()
	for _, want := range []string{"a decision server decides already", `the row "*" leaves no number to the deck`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// A price is read as it is written, is exact, and so is its float64.
func TestPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Price(rapid.Uint64Range(0, uint64(MaxPrice)-1).Draw(t, "price"))
		back, ok := ParsePrice(p.String())
		if !ok || back != p {
			t.Fatalf("%d is written %s and read %d, %t", p, p, back, ok)
		}
		f, err := strconv.ParseFloat(p.String(), 64)
		if err != nil || f != p.Float() {
			t.Fatalf("%s is %v, as float64 %v: %v", p, p.Float(), f, err)
		}
	})
	for _, bad := range []string{"", ".5", "1.", "-1", "+1", "1e-3", "0,01", "1000000", "0.0000000001", " 1", "1 "} {
		if p, ok := ParsePrice(bad); ok {
			t.Errorf("%q is read as %s", bad, p)
		}
	}
}

// A margin is judged as with numbers of any size.
func TestMargin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Uint64Range(0, uint64(MaxPrice)-1)
		sell, cost := Price(price.Draw(t, "sell")), Price(price.Draw(t, "cost"))
		m := Margin{Part: rapid.Uint64Range(0, marginWhole-1).Draw(t, "part"), Amount: Price(rapid.Uint64Range(0, 1e9).Draw(t, "amount"))}
		left := new(big.Int).Sub(big.NewInt(int64(sell)), big.NewInt(int64(cost)))
		part := new(big.Int).Mul(big.NewInt(int64(sell)), big.NewInt(int64(m.Part)))
		whole := new(big.Int).Mul(left, big.NewInt(marginWhole))
		want := left.Sign() >= 0 && left.Cmp(big.NewInt(int64(m.Amount))) >= 0 && whole.Cmp(part) >= 0
		if got := m.Leaves(sell, cost); got != want {
			t.Fatalf("%s sold, %s bought, margin %+v: %t, want %t", sell, cost, m, got, want)
		}
	})
	if m, ok := ParseMargin("12.5%"); !ok || m.Part != 125_000_000 {
		t.Errorf("12.5%% is %+v, %t", m, ok)
	}
	if m, ok := ParseMargin("0.002"); !ok || m.Amount.String() != "0.002" {
		t.Errorf("0.002 is %+v, %t", m, ok)
	}
}
