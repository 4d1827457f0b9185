package deck

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Scores says how calls to carriers did, in percent, by carrier id. Who is not in it has
// had too few calls: he counts as 100, so that he gets some.
type Scores map[string]float64

func (s Scores) of(carrier string) (percent float64, known bool) {
	if percent, known = s[carrier]; known {
		return percent, true
	}
	return 100, false
}

// desk is one route plan with its decks. It is immutable but for what it keeps.
type desk struct {
	spec   trunkgroup.DeckSpec
	margin trunkgroup.Margin
	buy    Named
	sell   Named // without a Deck when nothing is sold by one
	scores Scores
	// absent is the answer when there is no deck to go by; nil: there is.
	absent *trunkgroup.RouteSet
	kept   kept
}

// spot is what the routes of a number depend on: its longest prefix in both decks.
type spot struct{ buy, sell int32 }

func (k *desk) spotOf(n prefix) spot {
	s := spot{k.buy.Deck.find(n), -1}
	if k.sell.Deck != nil {
		s.sell = k.sell.Deck.find(n)
	}
	return s
}

// verdict is what becomes of a carrier's offer.
type verdict struct {
	offer
	carrier string
	score   float64
	scored  bool
	why     string // it is left out; empty: it is a route
}

// Reasons for which a carrier is left out.
const (
	leftBlocked = "the carrier takes no calls there"
	leftUnsold  = "nothing is sold there"
	leftOver    = "max_routes is reached"
)

// judged is what a plan makes of a spot at a time.
type judged struct {
	list   []verdict // the routes in their order, then what is left out
	routes int       // how many of list are routes
	sold   *offer    // what the customer pays; nil: no deck, or no price
	until  instant   // when it is to be asked again; 0: never
}

// judge sorts the carriers of a spot.
func (k *desk) judge(s spot, now instant) judged {
	var j judged
	offers, until := k.buy.Deck.offers(s.buy, now)
	j.until = until
	if k.sell.Deck != nil {
		o, ok, until := k.sell.Deck.price(s.sell, now)
		if j.until = sooner(j.until, until); ok {
			j.sold = &o
		}
	}
	for _, o := range offers {
		v := verdict{offer: o, carrier: k.buy.Deck.carriers[o.row.carrier]}
		v.score, v.scored = k.scores.of(v.carrier)
		switch {
		case o.row.price == blocked:
			v.why = leftBlocked
		case k.sell.Deck == nil:
		case j.sold == nil:
			v.why = leftUnsold
		case !k.margin.Leaves(j.sold.row.price, o.row.price):
			v.why = k.lowMargin(j.sold.row.price, o.row.price)
		}
		j.list = append(j.list, v)
	}
	slices.SortFunc(j.list, k.compare)
	for j.routes < len(j.list) && j.list[j.routes].why == "" {
		j.routes++
	}
	for j.routes > k.spec.Most() {
		j.routes--
		j.list[j.routes].why = leftOver
	}
	return j
}

func (k *desk) lowMargin(sell, cost trunkgroup.Price) string {
	want := k.spec.MinMargin
	if cost > sell {
		return "it costs " + (cost - sell).String() + " more than it is sold for"
	}
	return (sell - cost).String() + " a minute is left, and " + want + " is wanted"
}

// compare sorts routes before what is left out, and each by the plan's order.
func (k *desk) compare(a, b verdict) int {
	if left := (a.why != ""); left != (b.why != "") {
		if left {
			return 1
		}
		return -1
	}
	cost := cmp.Compare(a.row.price, b.row.price)
	quality := cmp.Compare(b.score, a.score)
	terms := k.buy.Deck.terms
	priority := cmp.Compare(terms[a.row.terms].Priority, terms[b.row.terms].Priority)
	id := strings.Compare(a.carrier, b.carrier)
	switch k.spec.Sorting() {
	case trunkgroup.DeckByQuality:
		return cmp.Or(quality, cost, priority, id)
	case trunkgroup.DeckByPriority:
		return cmp.Or(priority, cost, quality, id)
	}
	return cmp.Or(cost, quality, priority, id)
}

// routeSet makes the answer to a call.
func (k *desk) routeSet(j *judged) *trunkgroup.RouteSet {
	set := &trunkgroup.RouteSet{Source: trunkgroup.RoutesDeck, Routes: make([]trunkgroup.CarrierRoute, j.routes)}
	if j.routes == 0 {
		set.Why = k.noRoute(j)
	}
	d := k.buy.Deck
	for i := range set.Routes {
		v := &j.list[i]
		t := &d.terms[v.row.terms]
		set.Routes[i] = trunkgroup.CarrierRoute{
			CarrierID: v.carrier, GatewayGroup: t.Group, TechPrefix: t.TechPrefix, NumberPolicy: t.NumberPolicy,
			Rate: v.row.price.Float(), Rated: true, Currency: d.currency,
			BillingIncrement: t.Increment, MinDuration: t.MinDuration, CDRFields: k.fields(v, j.sold),
		}
	}
	return set
}

// fields says in the call's record by which rows it was routed and sold.
func (k *desk) fields(v *verdict, sold *offer) []trunkgroup.NameValue {
	f := []trunkgroup.NameValue{{Name: "deck", Value: k.buy.Name}, {Name: "deck_prefix", Value: k.buy.Deck.prefixes[v.at].String()}}
	if sold != nil {
		f = append(f,
			trunkgroup.NameValue{Name: "sell_prefix", Value: k.sell.Deck.prefixes[sold.at].String()},
			trunkgroup.NameValue{Name: "sell_rate", Value: sold.row.price.String()},
		)
	}
	return f
}

// noRoute says why no carrier is left.
func (k *desk) noRoute(j *judged) string {
	switch {
	case len(j.list) == 0:
		return "deck " + k.buy.Name + " has no row for the number that is in effect"
	case k.sell.Deck != nil && j.sold == nil:
		return "deck " + k.sell.Name + " has no price for the number that is in effect"
	}
	return "no carrier of deck " + k.buy.Name + " is left: " + j.list[0].why
}

// at is a time as rows have it.
func at(now time.Time) instant {
	i, ok := instantOf(now)
	if !ok || i == 0 {
		return 1
	}
	return i
}
