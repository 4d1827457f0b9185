package trunkgroup

import (
	"slices"
	"strings"
)

// numberPolicies checks the number policies, and which groups name them.
func (v *validator) numberPolicies() {
	seen := make(map[string]int)
	var names []string
	for i := range v.document.NumberPolicies {
		s, path := &v.document.NumberPolicies[i], index("number_policies", i)
		if v.policyName(path+".name", s.Name) {
			v.unique(seen, s.Name, i, path+".name", "number_policies")
			names = append(names, s.Name)
		}
		v.numberPolicy(path, s)
	}
	for i := range v.document.TrunkGroups {
		g, path := &v.document.TrunkGroups[i], index("trunk_groups", i)
		if g.Role != PSTNProvider {
			v.refuse(g.NumberPolicy != "", path+".number_policy", g.Role, "it is for what carriers see; see numbering.format")
			v.refuse(g.AssertIdentity != nil, path+".assert_identity", g.Role, "it is for what carriers see; take it out")
			continue
		}
		if g.NumberPolicy != "" && !slices.Contains(names, g.NumberPolicy) {
			v.faults.addf(path+".number_policy", v.look.suggest(g.NumberPolicy, func() []string { return names }, "name one of number_policies"),
				"there is no number policy %q", g.NumberPolicy)
		}
	}
}

// policyName checks the name of a policy: one that has a version behind an @ is the name
// that decision servers already know it by.
func (v *validator) policyName(path, name string) bool {
	before, behind, versioned := strings.Cut(name, "@")
	if versioned && isName(before) && isName(behind) && len(name) <= 63 {
		return true
	}
	return v.name(path, name)
}

func (v *validator) numberPolicy(path string, s *NumberPolicySpec) {
	n, at := s.Numbering, path+".numbering"
	v.digits(at+".country_code", n.CountryCode, 3)
	if strings.HasPrefix(n.CountryCode, "0") {
		v.faults.addf(at+".country_code", "write it without zeros in front, like 44", "%q begins with 0", n.CountryCode)
	}
	v.digits(at+".trunk_prefix", n.TrunkPrefix, 4)
	v.digits(at+".international_prefix", n.InternationalPrefix, 6)
	if n.MinNationalDigits < 0 || n.MinNationalDigits+len(n.CountryCode) > maxDigits {
		v.faults.addf(at+".min_national_digits", "use the digits of the shortest national number, without trunk prefix", "%d digits cannot be a national number", n.MinNationalDigits)
	}
	if n.CountryCode == "" && (n.TrunkPrefix != "" || n.MinNationalDigits != 0) {
		v.faults.add(at+".country_code", "is missing", "without it no number is national")
	}
	v.policyFormats(path, s)
	for i, text := range s.Preserve {
		if _, err := ParseLocalPattern(text); err != nil {
			v.faults.addf(index(path+".preserve", i), `write a short number like "911" or a prefix like "0800*"`, "%q %s", text, err)
		}
	}
	switch s.OnUnparseable {
	case "", unparseableKeep, unparseableStrip:
	default:
		v.faults.addf(path+".on_unparseable", Suggest(s.OnUnparseable, []string{unparseableKeep, unparseableStrip}), "%q is unknown", s.OnUnparseable)
	}
}

// policyFormats checks that the numbering has what the formats need.
func (v *validator) policyFormats(path string, s *NumberPolicySpec) {
	paths := [numberPlaces]string{
		PlaceRequestURI: ".headers.request_uri", PlaceFrom: ".headers.from", PlaceTo: ".headers.to", PlaceAsserted: ".headers.p_asserted_identity",
		PlacePreferred: ".headers.p_preferred_identity", PlaceRemoteParty: ".headers.remote_party_id", PlaceDiversion: ".diversion.format",
	}
	n := s.Numbering.filled()
	check := func(at string, f Format) {
		if f == FormatNational && n.CountryCode == "" {
			v.faults.add(at, "national needs a country_code", "add numbering.country_code or use another format")
		} else if (f == FormatNational || f == FormatInternational) && n.InternationalPrefix == "" {
			v.faults.addf(at, "add numbering.international_prefix or use another format", "%s needs an international_prefix", f)
		}
	}
	check(path+".format", s.Format)
	for place, f := range s.formats() {
		check(path+paths[place], f)
	}
}
