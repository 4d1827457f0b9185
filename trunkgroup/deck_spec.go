package trunkgroup

import (
	"cmp"
	"strings"
)

// DeckSpec routes by rate decks that stand beside the document.
type DeckSpec struct {
	Name string `yaml:"name" json:"name"`                     // of the deck with what carriers cost
	Sell string `yaml:"sell,omitempty" json:"sell,omitempty"` // of the deck with what customers pay; a carrier that costs more gets no call
	// MinMargin is what must be left of the price: "10%" of it, or "0.002" a minute.
	MinMargin string `yaml:"min_margin,omitempty" json:"min_margin,omitempty"`
	Order     string `yaml:"order,omitempty" json:"order,omitempty"`           // cost, quality or priority; default cost
	MaxRoutes int    `yaml:"max_routes,omitempty" json:"max_routes,omitempty"` // carriers for one call; default 10
}

// Orders of the carriers of a deck.
const (
	DeckByCost     = "cost"     // what a minute costs; then quality, priority
	DeckByQuality  = "quality"  // what became of calls; then cost, priority
	DeckByPriority = "priority" // as the rows say; then cost, quality
)

// DeckOrders lists what DeckSpec.Order may be.
func DeckOrders() []string { return []string{DeckByCost, DeckByQuality, DeckByPriority} }

// Bounds of a DeckSpec.
const (
	defaultDeckRoutes = 10
	MaxDeckRoutes     = 64
)

// Sorting is Order, or the default.
func (s *DeckSpec) Sorting() string { return cmp.Or(s.Order, DeckByCost) }

// Most is MaxRoutes, or the default.
func (s *DeckSpec) Most() int { return cmp.Or(s.MaxRoutes, defaultDeckRoutes) }

// Margin is what must be left of a price after the cost: a part of it in billionths, or
// an amount for each minute. The zero value is satisfied when nothing is lost.
type Margin struct {
	Part   uint64 // billionths of the price
	Amount Price
}

// marginWhole is a part of all of the price.
const marginWhole = 1_000_000_000

// ParseMargin reads "10%" or "0.002"; empty is nothing.
func ParseMargin(s string) (m Margin, ok bool) {
	if s == "" {
		return m, true
	}
	if percent, is := strings.CutSuffix(s, "%"); is {
		p, ok := ParsePrice(percent)
		m.Part = uint64(p) / 100
		return m, ok && uint64(p)%100 == 0 && m.Part < marginWhole
	}
	m.Amount, ok = ParsePrice(s)
	return m, ok
}

// Leaves reports whether a margin is left when a minute is sold and bought for so much.
func (m Margin) Leaves(sell, cost Price) bool {
	if cost > sell || sell-cost < m.Amount {
		return false
	}
	// Prices are below 10^15 and parts below 10^9: the product of both would not fit, that
	// of each half does.
	want := uint64(sell)/marginWhole*m.Part + (uint64(sell)%marginWhole*m.Part+marginWhole-1)/marginWhole
	return uint64(sell-cost) >= want
}

// Margin is the compiled MinMargin of a valid spec.
func (s *DeckSpec) Margin() Margin {
	m, _ := ParseMargin(s.MinMargin)
	return m
}

// IsDeckName reports whether a rate deck may have this name.
func IsDeckName(s string) bool { return isGroupName(s) }
