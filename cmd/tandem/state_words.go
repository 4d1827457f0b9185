package main

import (
	"slices"
	"strings"
)

// words of Kamailio's dispatcher.set_state (C4): one of a, i, t, d, with p for probing.
var kamailioStates = map[string][2]string{
	"a": {"active", ""}, "ap": {"active", ""},
	"i": {"inactive", "off"}, "ip": {"inactive", "on"},
	"t": {"trying", ""}, "tp": {"trying", ""},
	"d": {"disabled", ""}, "dp": {"disabled", ""}, // Kamailio probes no disabled destination either
}

func stateWords() []string { return []string{"active", "inactive", "trying", "draining", "disabled"} }

// stateOf reads a state as an operator writes it, with the flag --probe, and returns the word of the API: there "inactive" is what probes end,
// and without probes it is the same as draining.
func stateOf(word, probe string) (string, error) {
	if probe != "" && probe != "on" && probe != "off" {
		return "", usage("write --probe on or --probe off", "%q is neither on nor off", probe)
	}
	if short, ok := kamailioStates[strings.ToLower(word)]; ok {
		if word = short[0]; short[1] != "" {
			if probe != "" && probe != short[1] {
				return "", usage("write i or ip, without the flag", "the word and --probe %s contradict each other", probe)
			}
			probe = short[1]
		}
	}
	switch {
	case !slices.Contains(stateWords(), word):
		return "", usage("write active, inactive, trying, draining or disabled, or like Kamailio a, i, ip, t, tp, d", "%q is not a state", word)
	case word == "inactive" && probe != "on":
		return "draining", nil
	case word == "disabled" && probe == "on":
		return "", usage("draining is that", "a disabled member is not probed")
	case probe == "off" && word != "inactive" && word != "disabled":
		return "", usage("tandem probing pause stops probes; disabled is neither called nor probed", "--probe off does not go with %s", word)
	}
	return word, nil
}
