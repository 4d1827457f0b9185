package trunkgroup

import (
	"fmt"
	"strconv"
	"strings"
)

// aliases are other words for methods.
var aliases = map[string]Method{
	"serial":          Failover,
	"priority":        Failover,
	"priority-weight": Weighted,
}

// numbered are methods by the numbers of others (C1). Kamailio's are those of its
// dispatcher module; the reference's are of a table that is wrong about it, and
// that people have copied.
var numbered = map[string]map[int]Method{
	"kamailio": {
		0: HashCallID, 1: HashFrom, 2: HashTo, 3: HashRequestUser, 4: RoundRobin, 5: HashAuthUser, 6: Random, 7: Hash,
		8: Failover, 9: Weighted, 10: CallLoad, 11: RelativeWeight, 12: Parallel, 13: Latency, 14: RoundRobin, 64: RoundRobin,
	},
	"reference": {0: HashCallID, 1: HashFrom, 2: HashTo, 4: RoundRobin, 7: HashAuthUser, 8: Random, 10: Weighted},
}

// aliased returns the method of another word for it: one of Kamailio's numbers,
// like kamailio:4, one of the reference's, or a word.
func aliased(s string) (Method, error) {
	if m, ok := aliases[s]; ok {
		return m, nil
	}
	from, digits, ok := strings.Cut(s, ":")
	table := numbered[from]
	if !ok || table == nil {
		return 0, fmt.Errorf("unknown method %.64q", s)
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, fmt.Errorf("%.64q is not a number of %s", digits, from)
	}
	m, ok := table[n]
	if !ok {
		return 0, fmt.Errorf("%s has no method %d; %s", from, n, numbersOf(table))
	}
	return m, nil
}

// numbersOf says which numbers a table has, in order.
func numbersOf(table map[int]Method) string {
	const highest = 64
	var b strings.Builder
	b.WriteString("there are")
	for n := range highest + 1 {
		if m, ok := table[n]; ok {
			fmt.Fprintf(&b, " %d (%s)", n, m)
		}
	}
	return b.String()
}

// MethodOf returns the method that a number stands for in a table of C1, kamailio
// or reference.
func MethodOf(table string, n int) (Method, bool) {
	m, ok := numbered[table][n]
	return m, ok
}
