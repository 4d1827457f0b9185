package importer

import (
	"fmt"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// The algorithms of Kamailio's dispatcher that need more than their method (K-20).
const (
	dsRoundRobin = 4
	dsVariable   = 7
	dsSerial     = 8
	dsWeight     = 9
	dsCallLoad   = 10
	dsRelative   = 11
	dsParallel   = 12
	dsLatency    = 13
	dsEven       = 14
	dsOverload   = 64
)

// method writes the distribution of a group for an algorithm of Kamailio's.
func (k *kamailio) method(g *trunkgroup.GroupSpec, at place, algorithm int, rows []destination) {
	d := &g.Distribution
	item := fmt.Sprintf("set %d: algorithm %d", rows[0].set, algorithm)
	became := func(m trunkgroup.Method, why string) {
		d.Method = m
		if why == "" {
			k.Report.same(at, item, g.Name+": method "+m.String())
			return
		}
		k.Report.adapted(at, item, g.Name+": method "+m.String(), why)
	}
	m, known := trunkgroup.MethodOf("kamailio", algorithm)
	switch {
	case !known:
		d.Method = trunkgroup.Failover
		k.Report.lost(at, item, "is no algorithm: Kamailio takes the first entry, and so does method failover", "choose a method")
	case algorithm == dsVariable:
		k.variable(g, at, item)
	case m >= trunkgroup.HashCallID && m <= trunkgroup.HashAuthUser:
		k.hash(g, at, item, m, strings.TrimPrefix(m.String(), "hash-"))
	case algorithm == dsParallel:
		k.parallel(g, at, item)
	case algorithm == dsWeight:
		became(m, "when a far end is out its share goes to all others by weight; Kamailio gives it to the next entry")
	case algorithm == dsLatency:
		became(m, "a far end that answers slowly goes behind the others of its priority and never changes it")
	case algorithm == dsEven && !evenPriorities(rows):
		became(trunkgroup.Failover, "")
	case algorithm == dsOverload:
		d.Method = m
		k.Report.lost(at, item, "takes turns, without overload control (RFC 7339)", "bound the far ends by limits.calls and limits.cps")
	default:
		became(m, "")
	}
}

// hash writes a method that goes by a key of the call.
func (k *kamailio) hash(g *trunkgroup.GroupSpec, at place, item string, m trunkgroup.Method, key string) {
	d := &g.Distribution
	d.UserOnly = k.flags&1 != 0 && (key == "from" || key == "to")
	if k.o.ExactHash {
		d.Method, d.Key = trunkgroup.HashMod, key
		k.Report.same(at, item, g.Name+": method hash-mod, key "+key)
		return
	}
	d.Method = m
	if m == trunkgroup.Hash {
		d.Key = key
	}
	k.Report.adapted(at, item, g.Name+": method "+m.String(),
		"a key may go to another far end than with Kamailio; when a far end is out only its own keys move. --exact-hash keeps Kamailio's places")
}

// keyOf reads a pseudo-variable that names a key of ours.
func keyOf(variable string) (key string, userOnly bool) {
	switch variable {
	case "$ci":
		return "call-id", false
	case "$fu":
		return "from", false
	case "$fU":
		return "from", true
	case "$tu":
		return "to", false
	case "$tU":
		return "to", true
	case "$rU":
		return "request-user", false
	case "$au":
		return "auth-user", false
	case "$si":
		return "source-ip", false
	}
	return "", false
}

// variable reads hash_pvar, what algorithm 7 hashes.
func (k *kamailio) variable(g *trunkgroup.GroupSpec, at place, item string) {
	p := k.params["hash_pvar"]
	name := strings.Trim(p.value, " \"'")
	d := &g.Distribution
	header, isHeader := strings.CutPrefix(name, "$hdr(")
	header, closed := strings.CutSuffix(header, ")")
	key, userOnly := keyOf(strings.Replace(strings.Replace(name, "$(", "$", 1), ")", "", 1))
	switch {
	case isHeader && closed && !strings.ContainsAny(header, "()$"):
		k.hash(g, at, item, trunkgroup.Hash, "header:"+header)
	case key != "":
		k.hash(g, at, item, trunkgroup.Hash, key)
		d.UserOnly = userOnly
	default:
		d.Method = trunkgroup.HashCallID
		why := fmt.Sprintf("hash_pvar %q is no key that Tandem hashes; the Call-ID stands in", clip(name))
		if name == "" {
			why = "what it hashes stands in the parameter hash_pvar, which was not among the inputs; the Call-ID stands in"
		}
		k.Report.lost(at, item, why, "choose a key: call-id, from, to, request-user, auth-user, source-ip, caller, called or header:NAME")
	}
}

func (k *kamailio) parallel(g *trunkgroup.GroupSpec, at place, item string) {
	if g.Role == trunkgroup.OriginationCustomer {
		g.Distribution.Method = trunkgroup.Parallel
		k.Report.same(at, item, g.Name+": method parallel")
		return
	}
	g.Distribution.Method = trunkgroup.Failover
	k.Report.lost(at, item, "calls to all at once are for customers only: two carriers may bill. They are tried one after the other",
		fmt.Sprintf("if they are PBXs of a customer: --role %s=origination-customer", strings.TrimPrefix(strings.Split(item, ":")[0], "set ")))
}

// evenPriorities tells whether algorithm 14 takes turns: all far ends have the
// same priority, and it is not 0.
func evenPriorities(rows []destination) bool {
	for _, d := range rows {
		if d.priority == 0 || d.priority != rows[0].priority {
			return false
		}
	}
	return true
}
