package deck

import (
	"cmp"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Terms are what a row says besides its price. Most rows of a deck share few of them.
type Terms struct {
	Group        string // the pstn-provider group; empty in a deck of what customers pay
	TechPrefix   string
	NumberPolicy string
	Increment    uint32 // seconds that are billed as a whole; 0: not said
	MinDuration  uint32 // seconds that are billed at least
	Priority     uint32 // lower first
}

func (t Terms) compare(u Terms) int {
	return cmp.Or(
		strings.Compare(t.Group, u.Group), strings.Compare(t.TechPrefix, u.TechPrefix), strings.Compare(t.NumberPolicy, u.NumberPolicy),
		cmp.Compare(t.Increment, u.Increment), cmp.Compare(t.MinDuration, u.MinDuration), cmp.Compare(t.Priority, u.Priority),
	)
}

// Row is one line of a deck.
type Row struct {
	Prefix  string // digits, or "*" for all numbers
	Carrier string // empty in a deck of what customers pay
	Price   trunkgroup.Price
	Blocked bool // the carrier takes no calls there
	// From and To bound when the row is in effect, To not included; zero: no bound. Whole
	// seconds, UTC.
	From, To time.Time
	Terms
}

// instant is a time in Unix seconds that fits into 32 bits; 0 stands for no bound.
type instant uint32

// lastInstant is the latest time that a row can name: early in 2106.
const lastInstant = 1<<32 - 1

func instantOf(t time.Time) (instant, bool) {
	if t.IsZero() {
		return 0, true
	}
	s := t.Unix()
	return instant(s), s > 0 && s < lastInstant
}

func (i instant) time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.Unix(int64(i), 0).UTC()
}

// blocked is the price of a row that is blocked.
const blocked = trunkgroup.MaxPrice

// packed is a row as a deck holds it, without its prefix.
type packed struct {
	price          trunkgroup.Price // or blocked
	carrier, terms uint32           // places in the deck's lists
	from, to       instant
}

// inEffect reports whether the row counts at a time.
func (r *packed) inEffect(now instant) bool { return r.from <= now && (r.to == 0 || now < r.to) }
