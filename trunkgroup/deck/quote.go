package deck

import (
	"slices"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Quote is what decks say of a number, each carrier with its reason.
type Quote struct {
	Number   string
	At       time.Time
	Currency string
	// Sold says what the customer pays; nil: the plan sells by no deck, or there is no price.
	Sold     *Line
	Carriers []Line // the routes in their order, then those that are left out
	Routes   int    // how many of them are routes
	// Until is when another row comes into effect or ends; zero: never.
	Until time.Time
	Why   string // no call gets a route; empty: some do
}

// Line is the row of a carrier that counts.
type Line struct {
	Row
	Score   float64 // percent; 100 where too little is known
	Scored  bool
	Margin  string // what is left of the price; empty when nothing is sold
	LeftOut string // why it is no route; empty: it is one
	Next    []Row  // rows of that carrier that cover the number and begin later, the next first
}

// Quote says what a plan makes of a number. The second result is false when the book has no
// such plan.
func (b *Book) Quote(plan, number string, now time.Time) (Quote, bool) {
	if b == nil || b.desks[plan] == nil {
		return Quote{}, false
	}
	return b.desks[plan].quote(number, now), true
}

// QuoteDeck says what a deck makes of a number by itself: carriers by their cost, or what
// customers pay. The second result is false when there is no such deck.
func (b *Book) QuoteDeck(name, number string, now time.Time) (Quote, bool) {
	d, ok := b.Deck(name)
	if !ok {
		return Quote{}, false
	}
	if !d.Deck.sells {
		k := b.desk(trunkgroup.DeckSpec{Name: name, MaxRoutes: trunkgroup.MaxDeckRoutes}, nil)
		return k.quote(number, now), true
	}
	q := Quote{Number: number, At: now, Currency: d.Deck.currency}
	n, ok := parseNumber(number)
	if !ok {
		q.Why = noNumber.Why
		return q, true
	}
	o, priced, until := d.Deck.price(d.Deck.find(n), at(now))
	if q.Until = until.time(); !priced {
		q.Why = "deck " + name + " has no price for the number that is in effect"
		return q, true
	}
	q.Sold = &Line{Row: d.Deck.row(d.Deck.prefixes[o.at].String(), o.row)}
	return q, true
}

func (k *desk) quote(number string, now time.Time) Quote {
	q := Quote{Number: number, At: now}
	if k.absent != nil {
		q.Why = k.absent.Why
		return q
	}
	q.Currency = k.buy.Deck.currency
	n, ok := parseNumber(number)
	if !ok {
		q.Why = noNumber.Why
		return q
	}
	j := k.judge(k.spotOf(n), at(now))
	q.Routes, q.Until = j.routes, j.until.time()
	if j.routes == 0 {
		q.Why = k.noRoute(&j)
	}
	if j.sold != nil {
		q.Sold = &Line{Row: k.sell.Deck.row(k.sell.Deck.prefixes[j.sold.at].String(), j.sold.row)}
	}
	for i := range j.list {
		v := &j.list[i]
		line := Line{Row: k.buy.Deck.row(k.buy.Deck.prefixes[v.at].String(), v.row), Score: v.score, Scored: v.scored, LeftOut: v.why}
		if j.sold != nil && !line.Blocked {
			line.Margin = marginText(j.sold.row.price, v.row.price)
		}
		q.Carriers = append(q.Carriers, line)
	}
	k.next(&q, now)
	return q
}

// next adds rows that begin later, also of carriers that have none in effect.
func (k *desk) next(q *Quote, now time.Time) {
	for r := range k.buy.Deck.Covers(q.Number) {
		if !r.From.After(now) {
			continue
		}
		i := slices.IndexFunc(q.Carriers, func(l Line) bool { return l.Carrier == r.Carrier })
		if i < 0 {
			q.Carriers = append(q.Carriers, Line{Row: Row{Carrier: r.Carrier, Terms: r.Terms}, LeftOut: "it has no row that is in effect"})
			i = len(q.Carriers) - 1
		}
		q.Carriers[i].Next = append(q.Carriers[i].Next, r)
	}
	for i := range q.Carriers {
		slices.SortStableFunc(q.Carriers[i].Next, func(a, b Row) int { return a.From.Compare(b.From) })
	}
}

// marginText says what is left of a price: an amount, and which part of it that is.
func marginText(sell, cost trunkgroup.Price) string {
	if cost > sell {
		return "-" + (cost - sell).String()
	}
	text := (sell - cost).String()
	if sell > 0 {
		text += " (" + strconv.FormatFloat(100*(sell-cost).Float()/sell.Float(), 'f', 1, 64) + "%)"
	}
	return text
}
