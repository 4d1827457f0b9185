package trunkgroup

import (
	"strings"
	"time"
)

// Bounds of a charging section.
const (
	minRequested  = 2 * time.Second
	maxRequested  = 24 * time.Hour
	minInterim    = 10 * time.Second
	maxChargeText = 128
	maxIdentifier = 1<<31 - 1
)

// charging checks how calls of a customer are charged.
func (v *validator) charging(path string, g *GroupSpec) {
	s := g.Charging
	if s == nil {
		return
	}
	v.refuse(g.Role == PSTNProvider, path, g.Role, "write it in the groups of customers: whose calls these are pays for them")
	if !s.Online && !s.Offline {
		v.faults.add(path, "charges nothing", "write online: true, offline: true or both, or take it out")
	}
	if v.duration(path+".requested", s.Requested, false) && s.Requested != 0 {
		switch d := time.Duration(s.Requested); {
		case d < minRequested || d > maxRequested:
			v.faults.addf(path+".requested", "use 2s to 24h", "%s is out of range", s.Requested)
		case d%time.Second != 0:
			v.faults.addf(path+".requested", "use whole seconds", "%s cannot be asked for", s.Requested)
		}
	}
	if v.duration(path+".interim", s.Interim, true) && s.Interim > 0 && time.Duration(s.Interim) < minInterim {
		v.faults.addf(path+".interim", "use 10s or more, or off", "%s is out of range", s.Interim)
	}
	if c := s.DeniedCode; c != 0 && (c < 400 || c > 699) {
		v.faults.addf(path+".denied_code", "use a failure code, 400 to 699", "%d is not a failure", c)
	}
	for _, n := range [...]struct {
		key string
		n   int
	}{{"rating_group", s.RatingGroup}, {"service_identifier", s.ServiceIdentifier}} {
		if n.n < 0 || n.n > maxIdentifier {
			v.faults.addf(path+"."+n.key, "use 1 to 2147483647, or take it out", "%d is out of range", n.n)
		}
	}
	for _, t := range [...]struct{ key, text string }{
		{"service_context_id", s.ContextID}, {"realm", s.Realm}, {"account", s.Account},
	} {
		if len(t.text) > maxChargeText || strings.ContainsFunc(t.text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			v.faults.addf(path+"."+t.key, "use up to 128 characters without spaces", "%.40q cannot be sent", t.text)
		}
	}
	if s.Account != "" && s.Subscriber != SubscriberGroup {
		v.faults.add(path+".subscription", "means nothing beside account", "take one of them out")
	}
	for i, p := range s.Free {
		if _, ok := routePrefix(p); !ok {
			v.faults.addf(index(path+".free", i), `write it like "+1800*"`, "%q is not a prefix", p)
		}
	}
}
