package trunkgroup

import (
	"cmp"
	"slices"
	"strings"
)

// claimed is a pattern and where it stands.
type claimed struct {
	Pattern
	group, item int
}

func (c claimed) path() string {
	return index(index("trunk_groups", c.group)+".numbers", c.item)
}

// numbers checks the called numbers of all groups together. A more specific
// pattern may lie inside a wider one of any group; equal patterns and ranges
// that overlap have no answer to "whose number is it".
func (v *validator) numbers() {
	var all []claimed
	for i := range v.document.TrunkGroups {
		for j, text := range v.document.TrunkGroups[i].Numbers {
			if isExpression(text) {
				continue // see expressions
			}
			p, err := ParsePattern(text)
			if err != nil {
				v.faults.addf(index(index("trunk_groups", i)+".numbers", j),
					`write "+12145550100", "+1469555*", "+12145550100..+12145550199" or an expression between slashes`, "%q %s", text, err)
				continue
			}
			all = append(all, claimed{p, i, j})
		}
	}
	slices.SortFunc(all, func(a, b claimed) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.low, b.low),
			cmp.Compare(a.group, b.group), cmp.Compare(a.item, b.item))
	})
	var open []claimed // patterns that may reach the next one
	for _, p := range all {
		open = slices.DeleteFunc(open, func(o claimed) bool { return o.Kind != p.Kind || o.high < p.low })
		for _, o := range open[:min(len(open), maxOverlaps)] {
			v.overlap(o, p)
		}
		open = append(open, p)
	}
}

// maxOverlaps is how many overlaps of one pattern are told.
const maxOverlaps = 2

// overlap reports two patterns at the one that stands later.
func (v *validator) overlap(a, b claimed) {
	if a.group > b.group || a.group == b.group && a.item > b.item {
		a, b = b, a
	}
	problem := "overlaps with"
	if a.Pattern == b.Pattern {
		problem = "is the same as"
	}
	v.faults.addf(b.path(), "keep the number in one group", "%s %s %s at %s", b.Pattern, problem, a.Pattern, a.path())
}

func (v *validator) numbering(path string, s *NumberingSpec) {
	v.digits(path+".country_code", s.CountryCode, 3)
	if strings.HasPrefix(s.CountryCode, "0") {
		v.faults.addf(path+".country_code", "write it without zeros in front, like 44", "%q begins with 0", s.CountryCode)
	}
	v.digits(path+".trunk_prefix", s.TrunkPrefix, 4)
	v.digits(path+".international_prefix", s.InternationalPrefix, 6)
	for i, n := range s.NationalLengths {
		if n < 1 || n+len(s.CountryCode) > maxDigits {
			v.faults.addf(index(path+".national_lengths", i), "use lengths without country code and trunk prefix", "%d digits cannot be a national number", n)
		}
	}
	if s.CountryCode == "" && (s.TrunkPrefix != "" || s.InternationalPrefix != "" || len(s.NationalLengths) > 0) {
		v.faults.add(path+".country_code", "is missing", "without it only numbers with + are understood")
	}
	n := compileNumbering(*s)
	if s.Format == FormatNational && n.CountryCode == "" {
		v.faults.add(path+".format", "national needs a country_code", "add country_code or use another format")
	} else if (s.Format == FormatNational || s.Format == FormatInternational) && n.InternationalPrefix == "" {
		v.faults.addf(path+".format", "add international_prefix or use another format", "%s needs an international_prefix", s.Format)
	}
	for i, p := range s.StripPrefixes {
		if p == "" {
			v.faults.add(index(path+".strip_prefixes", i), "is empty", "take it out")
		}
		v.techPrefix(index(path+".strip_prefixes", i), p)
	}
	for i, text := range s.Preserve {
		if _, err := ParseLocalPattern(text); err != nil {
			v.faults.addf(index(path+".preserve", i), `write a short number like "911" or a prefix like "0800*"`, "%q %s", text, err)
		}
	}
}

func (v *validator) digits(path, s string, most int) {
	if len(s) > most || strings.Trim(s, "0123456789") != "" {
		v.faults.addf(path, "use digits only", "%q is not up to %d digits", s, most)
	}
}
