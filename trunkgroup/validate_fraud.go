package trunkgroup

import (
	"strings"
	"time"
)

// Bounds of the time in which short calls are counted.
const (
	minWithin = 10 * time.Second
	maxWithin = 24 * time.Hour
)

// fraud checks what a customer may do.
func (v *validator) fraud(path string, s *FraudSpec) {
	v.windows(path+".calls", s.Calls)
	v.windows(path+".minutes", s.Minutes)
	v.bounded(path+".short_calls.calls", s.ShortCalls.Calls)
	v.duration(path+".short_calls.under", s.ShortCalls.Under, false)
	within := s.ShortCalls.Within
	if v.duration(path+".short_calls.within", within, false) && within != 0 && (time.Duration(within) < minWithin || time.Duration(within) > maxWithin) {
		v.faults.addf(path+".short_calls.within", "use 10s to 24h", "%s is out of range", within)
	}
	if _, key := parseNight(&s.Night); key != "" {
		remedies := map[string]string{
			"from": "write a time of day like 19:00", "to": "write another time of day, like 07:00",
			"zone": "write a zone like America/Chicago, or UTC", "percent": "use 1 to 100",
		}
		v.faults.add(path+".night."+key, "cannot be read", remedies[key])
	}
	if s.ShortCalls.Calls == 0 && (s.ShortCalls.Under != 0 || within != 0) {
		v.faults.add(path+".short_calls.calls", "is missing, so short calls have no bound", "write how many may end that soon, or take short_calls out")
	}
	if s.Contact != "" && !isContact(s.Contact) {
		v.faults.addf(path+".contact", "write a sip:, tel: or https: address without spaces and quotes", "%q is none", s.Contact)
	}
	names, prefixes := map[string]int{fraudAll: -1}, map[string]string{}
	for i := range s.Destinations {
		v.destination(path, i, &s.Destinations[i], names, prefixes)
	}
}

func (v *validator) destination(path string, i int, d *FraudDestinationSpec, names map[string]int, prefixes map[string]string) {
	list := path + ".destinations"
	at := index(list, i)
	if d.Name == fraudAll {
		v.faults.add(at+".name", `"all" stands for all destinations together`, "use another name")
	} else if v.name(at+".name", d.Name) {
		v.unique(names, d.Name, i, at+".name", list)
	}
	v.windows(at+".calls", d.Calls)
	v.windows(at+".minutes", d.Minutes)
	if len(d.Prefixes) == 0 {
		v.faults.add(at+".prefixes", "is missing", `name some, like "+882*"`)
	}
	for j, p := range d.Prefixes {
		key := index(at+".prefixes", j)
		if _, ok := routePrefix(p); !ok {
			v.faults.addf(key, `write it like "+882*"`, "%q is not a prefix", p)
		} else if first, ok := prefixes[strings.TrimSuffix(p, "*")]; ok {
			v.faults.addf(key, "take it out", "stands already at %s", first)
		} else {
			prefixes[strings.TrimSuffix(p, "*")] = key
		}
	}
}

func (v *validator) windows(path string, w FraudWindowsSpec) {
	v.bounded(path+".hour", w.Hour)
	v.bounded(path+".day", w.Day)
}

// bounds checks that a customer with a fraud section has calls that it can judge: a
// name that is misspelt would leave them without a bound.
func (v *validator) bounds(path, customer string) {
	if v.look.terminating[customer] {
		return
	}
	v.faults.addf(path, "write customer: "+customer+" in the termination-customer groups that it is meant for, or take it out",
		"bounds nobody's calls: no termination-customer group is of customer %q", customer)
}

// isContact tells whether a text can stand in a Reason header's parameter.
func isContact(s string) bool {
	for _, scheme := range [...]string{"sip:", "sips:", "tel:", "https:"} {
		if strings.HasPrefix(s, scheme) && len(s) > len(scheme) && len(s) <= 256 {
			return !hasControl(s) && !strings.ContainsAny(s, " \"\\;<>")
		}
	}
	return false
}

// dno checks the callers that nobody may show.
func (v *validator) dno() {
	seen := make(map[string]int)
	for i, text := range v.document.DoNotOriginate {
		path := index("do_not_originate", i)
		if _, err := ParsePattern(text); err != nil {
			v.faults.add(path, err.Error(), `write a number like "+18005550100", a prefix like "+1800555*" or a range`)
			continue
		}
		v.unique(seen, text, i, path, "do_not_originate")
	}
}
