package trunkgroup

import "cmp"

// NumberPlace is a place of an INVITE that names a number.
type NumberPlace uint8

// The places.
const (
	PlaceRequestURI NumberPlace = iota
	PlaceFrom
	PlaceTo
	PlaceAsserted  // P-Asserted-Identity
	PlacePreferred // P-Preferred-Identity
	PlaceRemoteParty
	PlaceDiversion
	numberPlaces
)

// WritingPolicy is a compiled NumberPolicySpec: how a carrier wants to see numbers, at each
// place of an INVITE (S-080). Package sbc/number applies it. It is part of a Table and never
// changes.
type WritingPolicy struct {
	Name    string
	Formats [numberPlaces]Format
	// The carrier's country: digits, empty where the document does not say.
	CountryCode, TrunkPrefix, InternationalPrefix string
	MinNationalDigits                             int
	Preserve                                      []Pattern
	// StripUnparseable leaves an address out whose user is no number, in place of passing
	// it on as it is.
	StripUnparseable bool
	// DiversionPrivacy keeps the numbers of diversions from the carrier that ask for it.
	DiversionPrivacy bool
}

// What on_unparseable may say.
const (
	unparseableKeep  = "keep"
	unparseableStrip = "strip"
)

const defaultMinNationalDigits = 5

// NumberPolicy returns the number policy of this name, or nil.
func (t *Table) NumberPolicy(name string) *WritingPolicy { return t.policies[name] }

// Shapes reports whether calls to the group look otherwise than calls to any other, though
// nobody decided about them.
func (g *Group) Shapes() bool { return g.Writing != nil || g.Unasserted }

func (t *Table) addNumberPolicies(d *Document) {
	t.policies = make(map[string]*WritingPolicy, len(d.NumberPolicies))
	for i := range d.NumberPolicies {
		t.policies[d.NumberPolicies[i].Name] = compileNumberPolicy(&d.NumberPolicies[i])
	}
	for i := range d.TrunkGroups {
		s, g := &d.TrunkGroups[i], t.groups[i]
		g.Writing = t.policies[s.NumberPolicy]
		g.Unasserted = s.AssertIdentity != nil && !*s.AssertIdentity
	}
}

func compileNumberPolicy(s *NumberPolicySpec) *WritingPolicy {
	n := s.Numbering.filled()
	rest := cmp.Or(s.Format, FormatE164)
	p := &WritingPolicy{
		Name: s.Name, CountryCode: n.CountryCode, TrunkPrefix: n.TrunkPrefix, InternationalPrefix: n.InternationalPrefix,
		MinNationalDigits: n.MinNationalDigits,
		StripUnparseable:  s.OnUnparseable == unparseableStrip, DiversionPrivacy: s.Diversion.RespectPrivacy,
	}
	for place, f := range s.formats() {
		p.Formats[place] = cmp.Or(f, rest)
	}
	for _, text := range s.Preserve {
		if pattern, err := ParseLocalPattern(text); err == nil {
			p.Preserve = append(p.Preserve, pattern)
		}
	}
	return p
}

// formats are the formats as they are written, by place.
func (s *NumberPolicySpec) formats() [numberPlaces]Format {
	return [numberPlaces]Format{
		PlaceRequestURI: s.Headers.RequestURI, PlaceFrom: s.Headers.From, PlaceTo: s.Headers.To,
		PlaceAsserted: s.Headers.PAssertedIdentity, PlacePreferred: s.Headers.PPreferredIdentity,
		PlaceRemoteParty: s.Headers.RemotePartyID, PlaceDiversion: s.Diversion.Format,
	}
}

// filled returns the numbering with its defaults.
func (s PolicyNumberingSpec) filled() PolicyNumberingSpec {
	if s.CountryCode == "1" {
		s.TrunkPrefix = cmp.Or(s.TrunkPrefix, "1")
		s.InternationalPrefix = cmp.Or(s.InternationalPrefix, "011")
		s.MinNationalDigits = cmp.Or(s.MinNationalDigits, 10)
	}
	s.MinNationalDigits = cmp.Or(s.MinNationalDigits, defaultMinNationalDigits)
	return s
}
