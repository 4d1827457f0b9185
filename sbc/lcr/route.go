package lcr

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// route reads one route. An error names the field that is wrong.
func (a *Answer) route(r *trunkgroup.CarrierRoute, w *wireRoute) error {
	if w.CarrierID == nil || *w.CarrierID == "" {
		return errors.New("carrier_id: is missing")
	}
	*r = trunkgroup.CarrierRoute{
		CarrierID: *w.CarrierID, GatewayGroup: w.GatewayGroup, NextHop: strings.TrimSpace(w.NextHop), RURI: strings.TrimSpace(w.RURI),
		Destination: w.Destination, TechPrefix: w.TechPrefix, NumberPolicy: w.NumberPolicy, CallerID: w.CallerID,
		BillingIncrement: w.Increment, MinDuration: w.MinDuration,
		Timeout: time.Duration(min(w.Timeout, maxSecs)) * time.Second, RerouteAfterProgress: w.Reroute,
	}
	for _, f := range [...]struct{ name, text string }{
		{"carrier_id", r.CarrierID},
		{"gateway_group", r.GatewayGroup},
		{"next_hop", r.NextHop},
		{"ruri", r.RURI},
		{"destination", r.Destination},
		{"tech_prefix", r.TechPrefix},
		{"number_policy", r.NumberPolicy},
		{"caller_id", r.CallerID},
	} {
		if err := text(f.name, f.text); err != nil {
			return err
		}
	}
	if len(w.Headers.value) > maxFields {
		return errors.New("headers: are more than 32")
	}
	if len(w.CDRFields.value) > maxFields {
		return errors.New("cdr_fields: are more than 32")
	}
	if !r.Routable() {
		a.note(r.CarrierID, "has no gateway_group, next_hop or ruri, and cannot be dialled") // S-020
	}
	a.presentation(r, w.Presentation)
	a.money(r, w)
	a.causes(r, w.Causes)
	r.Headers = a.fields(r.CarrierID, "headers", w.Headers.value, isToken)
	r.CDRFields = a.fields(r.CarrierID, "cdr_fields", w.CDRFields.value, func(name string) bool {
		return name != "" && !strings.ContainsFunc(name, isControl)
	})
	return nil
}

// presentation reads caller_id_presentation: what is not known withholds the number
// (S-085), since showing one that was to be withheld is the worse mistake.
func (a *Answer) presentation(r *trunkgroup.CarrierRoute, word string) {
	switch word {
	case "", "allowed":
	case "restricted":
		r.Restricted = true
	default:
		r.Restricted = true
		a.note(r.CarrierID, "caller_id_presentation %.32q is not known: restricted", word)
	}
}

// money reads what goes to the record alone: a fault there costs no call.
func (a *Answer) money(r *trunkgroup.CarrierRoute, w *wireRoute) {
	if w.Rate != nil {
		if *w.Rate < 0 || math.IsInf(*w.Rate, 0) || *w.Rate > 1e6 {
			a.note(r.CarrierID, "rate is out of range: the call is not rated")
		} else {
			r.Rate, r.Rated = *w.Rate, true
		}
	}
	if w.Currency == "" {
		return
	}
	if len(w.Currency) != 3 || strings.ContainsFunc(w.Currency, func(c rune) bool { return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') }) {
		a.note(r.CarrierID, "currency %.16q is no code of ISO 4217", w.Currency)
		return
	}
	r.Currency = strings.ToUpper(w.Currency)
}

// causes reads reroute_causes; an empty list is none (S-036). No 6xx ever leads on
// (S-033, C7).
func (a *Answer) causes(r *trunkgroup.CarrierRoute, list []uint16) {
	good := make([]int, 0, len(list))
	for _, c := range list {
		switch {
		case c >= 600 && c <= 699:
			a.note(r.CarrierID, "reroute_causes: %d ends the call all the same", c)
		case c < 300 || c > 699:
			a.note(r.CarrierID, "reroute_causes: %d is not a code of a failed call", c)
		default:
			good = append(good, int(c))
		}
	}
	r.RerouteCauses = trunkgroup.Causes(good...)
}

// fields reads names and values, by name. A name or a value that could say something
// else in a message is left out.
func (a *Answer) fields(carrier, what string, m map[string]string, good func(string) bool) []trunkgroup.NameValue {
	if len(m) == 0 {
		return nil
	}
	list := make([]trunkgroup.NameValue, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		value := m[name]
		switch {
		case len(name) > maxText || !good(name):
			a.note(carrier, "%s: %.64q is no name", what, name)
		case len(value) > maxValue:
			a.note(carrier, "%s: %s has more than %d octets", what, name, maxValue)
		case strings.ContainsFunc(value, func(r rune) bool { return isControl(r) && r != '\t' }):
			a.note(carrier, "%s: %s holds a control character", what, name)
		default:
			list = append(list, trunkgroup.NameValue{Name: name, Value: value})
		}
	}
	return list
}

// isToken judges the name of a header (RFC 3261 section 25.1).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("-.!%*_+`'~", rune(c)) {
			return false
		}
	}
	return s != ""
}
