package verdict

import "strings"

// What a knob is about stands in its Member: "group/member", or with a prefix that no group's name can have. An older build keeps and spreads
// what it does not know, and acts on none of it.
const (
	weightPrefix = "weight:"
	sitePrefix   = "site:"
	pausePrefix  = "probing:"
)

// WeightOf is the subject of a knob that gives a member ("group/member") another weight.
func WeightOf(member string) string { return weightPrefix + member }

// DrainOf is the subject of a knob that drains a site.
func DrainOf(site string) string { return sitePrefix + site }

// PauseOf is the subject of a knob that stops all probes of a site.
func PauseOf(site string) string { return pausePrefix + site }

// Subject takes the subject of a knob apart: exactly one of the two is set. weight says that the knob is about the member's weight.
func Subject(s string) (member, site string, weight bool) {
	for _, prefix := range []string{sitePrefix, pausePrefix} {
		if site, ok := strings.CutPrefix(s, prefix); ok {
			return "", site, false
		}
	}
	member, weight = strings.CutPrefix(s, weightPrefix)
	return member, "", weight
}

// properSubject reports whether s is a subject of this build.
func properSubject(s string) bool {
	member, site, _ := Subject(s)
	if site != "" {
		return !strings.ContainsAny(site, "/@:")
	}
	key, err := ParseKey(member)
	return err == nil && !key.Addr.IsValid() && !strings.Contains(member, ":")
}

// MaxWeight bounds what an operator can give a member.
const MaxWeight = 1_000_000
