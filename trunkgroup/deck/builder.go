package deck

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// builder gathers the rows of a deck in any order.
type builder struct {
	sells    bool
	currency string
	carriers lists[string]
	terms    lists[Terms]
	rows     []loose
}

// loose is a row that has not found its place yet.
type loose struct {
	prefix prefix
	packed
	line uint32 // where it stands; 0: nowhere
}

// lists gives each value a place, once.
type lists[T comparable] struct {
	places map[T]uint32
	values []T
}

func (l *lists[T]) place(v T, most int) (uint32, bool) {
	if at, ok := l.places[v]; ok {
		return at, true
	}
	if len(l.values) == most {
		return 0, false
	}
	if l.places == nil {
		l.places = make(map[T]uint32)
	}
	at := uint32(len(l.values))
	l.places[v] = at
	l.values = append(l.values, v)
	return at, true
}

// sorted returns the values in order, and by old place the new one.
func (l *lists[T]) sorted(compare func(a, b T) int) (values []T, moved []uint32) {
	order := make([]uint32, len(l.values))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return compare(l.values[a], l.values[b]) })
	values, moved = make([]T, len(order)), make([]uint32, len(order))
	for now, before := range order {
		values[now], moved[before] = l.values[before], uint32(now)
	}
	return values, moved
}

// Refusals of a row.
var (
	errTooManyRows     = fmt.Errorf("a deck has at most %d rows", MaxRows)
	errTooManyCarriers = fmt.Errorf("a deck has at most %d carriers", MaxCarriers)
	errTooManyTerms    = errors.New("the rows have too many different groups, tech prefixes, policies, increments and priorities")
)

// add takes a row.
func (b *builder) add(p prefix, carrier string, terms Terms, r packed, line uint32) error {
	if len(b.rows) == MaxRows {
		return errTooManyRows
	}
	var ok bool
	if !b.sells {
		if r.carrier, ok = b.carriers.place(carrier, MaxCarriers); !ok {
			return errTooManyCarriers
		}
	}
	if r.terms, ok = b.terms.place(terms, maxTerms); !ok {
		return errTooManyTerms
	}
	b.rows = append(b.rows, loose{p, r, line})
	return nil
}

// twice is a row that says again for whom, where and from when another one says it.
type twice struct {
	first, second uint32 // lines
	row           loose
}

// deck puts the rows in their places. Of those that stand twice it keeps the first, and tells
// of the others.
func (b *builder) deck() (*Deck, []twice) {
	d := &Deck{sells: b.sells, currency: b.currency}
	var carriers, terms []uint32
	d.carriers, carriers = b.carriers.sorted(cmp.Compare[string])
	d.terms, terms = b.terms.sorted(Terms.compare)
	for i := range b.rows {
		r := &b.rows[i]
		if !b.sells {
			r.carrier = carriers[r.carrier]
		}
		r.terms = terms[r.terms]
	}
	slices.SortFunc(b.rows, func(x, y loose) int {
		return cmp.Or(cmp.Compare(x.prefix, y.prefix), cmp.Compare(x.carrier, y.carrier), cmp.Compare(y.from, x.from), cmp.Compare(x.line, y.line))
	})
	d.rows = make([]packed, 0, len(b.rows))
	var again []twice
	for i := range b.rows {
		r := &b.rows[i]
		if i > 0 {
			if last := &b.rows[i-1]; last.prefix == r.prefix && last.carrier == r.carrier && last.from == r.from {
				again = append(again, twice{last.line, r.line, *r})
				continue
			}
		}
		if len(d.prefixes) == 0 || d.prefixes[len(d.prefixes)-1] != r.prefix {
			d.prefixes = append(d.prefixes, r.prefix)
			d.first = append(d.first, uint32(len(d.rows)))
		}
		d.rows = append(d.rows, r.packed)
	}
	d.first = append(d.first, uint32(len(d.rows)))
	d.link()
	return d, again
}

// With returns the deck with other rows for one carrier: all that it has of it are those of
// more. Errors tell of decks that do not go together.
func (d *Deck) With(more *Deck, carrier string) (*Deck, error) {
	switch {
	case d.sells || more.sells:
		return nil, errors.New("a deck of what customers pay has no carriers to replace")
	case d.Len() > 0 && d.currency != more.currency:
		return nil, fmt.Errorf("the deck is in %s, and the new rows are in %s", currencyText(d.currency), currencyText(more.currency))
	}
	for _, c := range more.carriers {
		if c != carrier {
			return nil, fmt.Errorf("the new rows are of carrier %q too", c)
		}
	}
	b := &builder{currency: more.currency}
	for _, from := range []*Deck{d, more} {
		for at := range from.prefixes {
			for _, r := range from.rowsOf(int32(at)) {
				name := from.carriers[r.carrier]
				if from == d && name == carrier {
					continue
				}
				if err := b.add(from.prefixes[at], name, from.terms[r.terms], r, 0); err != nil {
					return nil, err
				}
			}
		}
	}
	next, _ := b.deck()
	return next, nil
}

func currencyText(c string) string { return cmp.Or(c, "no currency") }

// New makes a deck of rows, as ReadCSV makes one of lines. It is for those who have rows.
func New(sells bool, currency string, rows []Row) (*Deck, error) {
	b := &builder{sells: sells, currency: currency}
	for i := range rows {
		r := &rows[i]
		text := r.Prefix
		if text == "*" {
			text = ""
		}
		p, ok := parsePrefix(text)
		from, okFrom := instantOf(r.From)
		to, okTo := instantOf(r.To)
		if !ok || !okFrom || !okTo || r.Price >= trunkgroup.MaxPrice {
			return nil, fmt.Errorf("row %d of the deck cannot be: %+v", i, *r)
		}
		price := r.Price
		if r.Blocked {
			price = blocked
		}
		if err := b.add(p, r.Carrier, r.Terms, packed{price: price, from: from, to: to}, uint32(i+1)); err != nil {
			return nil, err
		}
	}
	d, again := b.deck()
	if len(again) > 0 {
		return nil, fmt.Errorf("row %d of the deck says again what row %d says", again[0].second-1, again[0].first-1)
	}
	return d, nil
}
