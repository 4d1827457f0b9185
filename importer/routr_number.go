package importer

import (
	"fmt"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// did is a Number.
type did struct {
	place
	label    string
	pattern  string // E.164
	trunk    string // group
	aor      string // canonical, as aorOf
	affinity string // header
	taken    bool   // a group has it
}

// number reads a Number.
func (r *routr) number(s *resource) {
	tel := first(s.spec, []string{"location", "telUrl"}, []string{"telUrl"})
	link := first(s.spec, []string{"location", "aorLink"}, []string{"aorLink"})
	header := first(s.spec, []string{"location", "sessionAffinityHeader"}, []string{"sessionAffinityHeader"})
	digits := strings.Map(func(c rune) rune {
		if strings.ContainsRune("-. ()", c) {
			return -1
		}
		return c
	}, strings.TrimPrefix(tel.Text(), "tel:"))
	digits, _, _ = strings.Cut(digits, ";")
	d := &did{place: s.place, label: s.label(), pattern: digits, aor: r.aorOf(link.Text()), affinity: header.Text()}
	ref := s.spec.At("trunkRef").Text()
	d.trunk = r.trunks[ref]
	first(s.spec, []string{"location", "geoInfo"}, []string{"geoInfo"}).Pass()
	for _, h := range first(s.spec, []string{"location", "extraHeaders"}, []string{"extraHeaders"}).List() {
		name := h.At("name").Text()
		h.Pass()
		r.Report.lost(place{s.file, h.Line}, s.label()+" extraHeaders "+name, "calls have no headers added", "have the far end tell its numbers apart by the Request-URI")
	}
	if ref != "" && d.trunk == "" {
		r.Report.lost(s.place, s.label()+" trunkRef "+ref, "there is no such Trunk among the inputs", "import it as well")
	}
	if _, err := trunkgroup.ParsePattern(digits); err != nil {
		r.Report.lost(s.place, s.label()+" "+tel.Text(), fmt.Sprintf("is no E.164 number: %v", err), "write telUrl: tel:+12145550100")
		return
	}
	r.numbers[s.ref] = d
	if other := r.patterns[digits]; other != "" {
		d.taken = true
		r.Report.lost(s.place, s.label()+" "+digits, "is the number of "+other+" already", "keep it in one Number")
		return
	}
	r.patterns[digits] = s.label()
	r.reached[d.aor] = append(r.reached[d.aor], d)
}

// aorOf returns an address of record in the form that documents have. One of the
// scheme backend: gets the realm for its host.
func (r *routr) aorOf(text string) string {
	if name, ok := strings.CutPrefix(text, "backend:"); ok && name != "" && !strings.Contains(name, "@") {
		host := r.o.Realm
		if host == "" {
			host = "backend.local"
		}
		text = "sip:" + name + "@" + host
	}
	if aor, _, _, err := trunkgroup.ParseAOR(text); err == nil {
		return aor
	}
	return text
}

// numbersOf moves the numbers of an address of record into a group.
func (r *routr) numbersOf(aor string, g *trunkgroup.GroupSpec) []*did {
	list := r.reached[aor]
	for _, d := range list {
		d.taken = true
		g.Numbers = append(g.Numbers, d.pattern)
		r.Report.same(d.place, d.label+" "+d.pattern, g.Name+": numbers")
	}
	g.Numbers = sortedUnique(g.Numbers)
	return list
}
