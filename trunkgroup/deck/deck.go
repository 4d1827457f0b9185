package deck

import (
	"iter"
	"slices"
)

// Bounds of a deck.
const (
	MaxRows     = 2_000_000
	MaxCarriers = 4096
	// maxTerms bounds how many different terms the rows of one deck have.
	maxTerms = 1 << 18
)

// Deck is a rate deck. It is immutable, and any number of goroutines may read it.
type Deck struct {
	sells    bool
	currency string   // ISO 4217, or empty
	carriers []string // sorted
	terms    []Terms  // sorted

	prefixes []prefix // that have rows; sorted
	up       []int32  // by prefix: the longest other one that begins it; -1
	first    []uint32 // by prefix: its first row, and behind the last: all rows
	rows     []packed // of a prefix by carrier, the one that begins last first
}

// Sells reports a deck of what customers pay.
func (d *Deck) Sells() bool { return d.sells }

// Currency is that of all prices; empty when the deck does not say.
func (d *Deck) Currency() string { return d.currency }

// Len is how many rows there are.
func (d *Deck) Len() int { return len(d.rows) }

// Prefixes is how many different prefixes there are.
func (d *Deck) Prefixes() int { return len(d.prefixes) }

// Carriers lists the carriers in order of their ids. The caller must not change it.
func (d *Deck) Carriers() []string { return d.carriers }

// Groups lists the groups that rows name, in order.
func (d *Deck) Groups() (names []string) {
	for i := range d.terms {
		if g := d.terms[i].Group; g != "" && !slices.Contains(names, g) {
			names = append(names, g)
		}
	}
	slices.Sort(names)
	return names
}

// All yields the rows in order of prefix, carrier, and the later beginning first.
func (d *Deck) All() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for at := range d.prefixes {
			text := d.prefixes[at].String()
			for _, r := range d.rowsOf(int32(at)) {
				if !yield(d.row(text, &r)) {
					return
				}
			}
		}
	}
}

func (d *Deck) row(prefix string, r *packed) Row {
	row := Row{Prefix: prefix, Price: r.price, Blocked: r.price == blocked, From: r.from.time(), To: r.to.time(), Terms: d.terms[r.terms]}
	if row.Blocked {
		row.Price = 0
	}
	if !d.sells {
		row.Carrier = d.carriers[r.carrier]
	}
	return row
}

func (d *Deck) rowsOf(at int32) []packed { return d.rows[d.first[at]:d.first[at+1]] }

// find returns the place of the longest prefix that begins a number; -1 when there is none.
func (d *Deck) find(n prefix) int32 {
	i, found := slices.BinarySearch(d.prefixes, n)
	if !found {
		i--
	}
	// What begins the number begins the last prefix before it as well, or is that one.
	at := int32(i)
	for at >= 0 && !d.prefixes[at].covers(n) {
		at = d.up[at]
	}
	return at
}

// link fills in up.
func (d *Deck) link() {
	d.up = make([]int32, len(d.prefixes))
	var open []int32 // the prefixes that begin the one at hand
	for i, p := range d.prefixes {
		for len(open) > 0 && !d.prefixes[open[len(open)-1]].covers(p) {
			open = open[:len(open)-1]
		}
		d.up[i] = -1
		if len(open) > 0 {
			d.up[i] = open[len(open)-1]
		}
		open = append(open, int32(i))
	}
}

// offer is the row of a carrier that counts for a number.
type offer struct {
	at  int32 // place of the prefix
	row *packed
}

// offers returns what each carrier says of the numbers whose longest prefix is at a place,
// and until when that is so; 0: for ever.
func (d *Deck) offers(at int32, now instant) (list []offer, until instant) {
	said := make([]bool, max(len(d.carriers), 1))
	for ; at >= 0; at = d.up[at] {
		rows := d.rowsOf(at)
		for i := range rows {
			r := &rows[i]
			switch {
			case r.from > now:
				until = sooner(until, r.from)
			case r.inEffect(now):
				if until = sooner(until, r.to); !said[r.carrier] {
					said[r.carrier] = true
					list = append(list, offer{at, r})
				}
			}
		}
	}
	return list, until
}

// sooner returns the earlier of two times, of which 0 is never.
func sooner(a, b instant) instant {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// price returns what a customer pays for the numbers whose longest prefix is at a place, and
// until when that is so.
func (d *Deck) price(at int32, now instant) (o offer, ok bool, until instant) {
	list, until := d.offers(at, now)
	if len(list) == 0 || list[0].row.price == blocked {
		return offer{}, false, until
	}
	return list[0], true, until
}

// Covers yields every row that covers a number, in effect or not: the longest prefix first.
// The number is E.164 with its +.
func (d *Deck) Covers(number string) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		n, ok := parseNumber(number)
		if !ok {
			return
		}
		for at := d.find(n); at >= 0; at = d.up[at] {
			text := d.prefixes[at].String()
			for _, r := range d.rowsOf(at) {
				if !yield(d.row(text, &r)) {
					return
				}
			}
		}
	}
}

// parseNumber reads an E.164 number with its +.
func parseNumber(s string) (prefix, bool) {
	if len(s) < 2 || s[0] != '+' {
		return 0, false
	}
	return parsePrefix(s[1:])
}

// Named is a deck as the cluster has it.
type Named struct {
	Name    string
	Edition uint64 // in which it came into force
	Deck    *Deck
}
