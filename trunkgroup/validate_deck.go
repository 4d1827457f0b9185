package trunkgroup

import (
	"slices"
	"strings"
)

// deck checks the section of a route plan that leaves it to rate decks. Whether there are
// such decks is not asked: they stand beside the document and come and go without it.
func (v *validator) deck(path string, plan *RoutePlanSpec) {
	s := plan.Deck
	if s == nil {
		return
	}
	if plan.Decision != nil {
		v.faults.add(path, "a decision server decides already", "take out deck or decision: a plan asks one of them")
	}
	for j := range plan.Routes {
		if plan.Routes[j].Prefix == "*" {
			v.faults.add(path, `the row "*" leaves no number to the deck`, `take that row out, or write the prefixes that it is for`)
		}
	}
	v.name(path+".name", s.Name)
	if s.Sell != "" && v.name(path+".sell", s.Sell) && s.Sell == s.Name {
		v.faults.add(path+".sell", "is the deck of what carriers cost", "name the deck with what customers pay")
	}
	if _, ok := ParseMargin(s.MinMargin); !ok {
		v.faults.addf(path+".min_margin", `write a part of the price like "10%" or an amount a minute like "0.002"`, "%q is no margin", s.MinMargin)
	}
	if s.MinMargin != "" && s.Sell == "" {
		v.faults.add(path+".min_margin", "means nothing without sell", "name the deck with what customers pay, or take it out")
	}
	if s.Order != "" && !slices.Contains(DeckOrders(), s.Order) {
		v.faults.addf(path+".order", "use "+strings.Join(DeckOrders(), ", "), "%q is no order", s.Order)
	}
	if s.MaxRoutes < 0 || s.MaxRoutes > MaxDeckRoutes {
		v.faults.addf(path+".max_routes", "use 1 to 64", "%d is out of range", s.MaxRoutes)
	}
}
