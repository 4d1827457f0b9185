package importer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// equalName compares names of attributes, whose case does not matter.
func equalName(a, b string) bool { return strings.EqualFold(a, b) }

// attributes reports what became of the attributes of a destination (K-22), and
// writes those that are limits.
func (k *kamailio) attributes(g *trunkgroup.GroupSpec, m *trunkgroup.MemberSpec, d destination, algorithm int) {
	key := g.Name + "/" + m.ID
	for _, a := range splitAttrs(d.attrs) {
		item := a.name + "=" + a.value
		switch strings.ToLower(a.name) {
		case "duid":
			k.Report.same(d.place, item, key)
		case "maxload":
			k.maxLoad(key, m, d, item, a.value, algorithm)
		case "weight", "rweight":
			k.reportWeight(key, m, d, item, a, algorithm)
		case "socket", "sockname", "ping_socket":
			k.Report.lost(d.place, item, "a node sends from its listener of the member's transport", "where the far end wants calls from one address, see that the listener has it")
		case "ping_from":
			k.Report.lost(d.place, item, "probes come from the node's own address", "have the far end answer OPTIONS from there")
		case "obproxy":
			k.Report.lost(d.place, item, "probes go where calls go", "")
		case "latency":
			k.Report.adapted(d.place, item, "", "latency is measured anew by probes")
		case "cc":
			if a.value == "1" {
				k.Report.lost(d.place, item, "there is no congestion control by latency", "method latency goes by it, and timers.b_timer leaves far ends that do not answer")
			}
		case "ocmin", "ocmax", "ocrate":
			k.Report.lost(d.place, item, "there is no overload control (RFC 7339)", "bound the far end by limits.calls and limits.cps")
		default:
			k.Report.lost(d.place, item, "was for the script", "it stands as a comment beside the member")
			k.comment(key, item)
		}
	}
}

func (k *kamailio) maxLoad(key string, m *trunkgroup.MemberSpec, d destination, item, value string, algorithm int) {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil || n < 0:
		k.Report.lost(d.place, item, "is not a number", "set limits.calls")
	case n == 0:
		k.Report.same(d.place, item, key+": no limit")
	case algorithm != dsCallLoad:
		k.Report.adapted(d.place, item, "", "Kamailio looks at it with algorithm 10 only; limits.calls of the member would hold always")
	default:
		m.Limits.Calls = n
		k.Report.same(d.place, item, fmt.Sprintf("%s: limits.calls %d", key, n))
	}
}

func (k *kamailio) reportWeight(key string, m *trunkgroup.MemberSpec, d destination, item string, a attribute, algorithm int) {
	counts := algorithm == dsWeight && equalName(a.name, "weight") || algorithm == dsRelative && equalName(a.name, "rweight")
	switch {
	case rankOf(a.value) == 0:
		k.Report.lost(d.place, item, "Kamailio knows weights from 1 to 100, and takes this one for none", "set weight")
	case !counts:
		k.Report.same(d.place, item, key+": none; the algorithm does not go by it")
	default:
		k.Report.same(d.place, item, fmt.Sprintf("%s: weight %d", key, m.Weight))
	}
}

// The flags of a destination (K-22).
const (
	flagInactive = 1
	flagTrying   = 2
	flagDisabled = 4
	flagProbing  = 8
	flagNoDNS    = 16
	flagNoPing   = 32
)

// states writes what the flags of destinations say of the beginning.
func (k *kamailio) states(g *trunkgroup.GroupSpec, rows []destination) {
	probed := g.Monitoring.Profile != ""
	for i, d := range rows {
		m := &g.Members[i]
		key := g.Name + "/" + m.ID
		item := func(flag int, word string) string { return fmt.Sprintf("%s: flag %d (%s)", d.uri, flag, word) }
		if d.flags&flagDisabled != 0 {
			m.Disabled = true
			k.Report.same(d.place, item(flagDisabled, "disabled"), key+": disabled")
		}
		switch {
		case d.flags&flagInactive == 0 || m.Disabled:
		case probed:
			k.Report.adapted(d.place, item(flagInactive, "inactive"), key, "probes say from the beginning what it is")
		default:
			m.Disabled = true
			k.Report.adapted(d.place, item(flagInactive, "inactive"), key+": disabled", "nothing probes it, so that nothing but an operator brings it back")
		}
		if d.flags&flagTrying != 0 {
			k.Report.adapted(d.place, item(flagTrying, "trying"), key, "states are found out, not written down")
		}
		if d.flags&flagProbing != 0 && !probed {
			k.Report.same(d.place, item(flagProbing, "probing"), key+": not probed, as ds_ping_interval is 0")
		}
		if d.flags&flagNoDNS != 0 {
			k.Report.same(d.place, item(flagNoDNS, "no DNS at the start"), key+": names are resolved in the background")
		}
		if d.flags&flagNoPing != 0 && probed {
			k.Report.lost(d.place, item(flagNoPing, "never ping"), key+" is probed: monitoring is for whole groups", "give it a group without monitoring, and a member with group: in this one")
		}
		if rest := d.flags &^ 63; rest != 0 {
			k.Report.lost(d.place, item(rest, "unknown"), "is no flag of the dispatcher", "")
		}
	}
}
