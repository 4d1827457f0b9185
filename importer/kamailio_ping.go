package importer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// number returns a parameter of the module.
func (k *kamailio) number(name string, otherwise int) int {
	n, err := strconv.Atoi(strings.TrimSpace(k.params[name].value))
	if err != nil {
		return otherwise
	}
	return n
}

// meaning is what a parameter of the module is here.
type meaning struct {
	outcome     Outcome
	why, remedy string
}

// meaningOf tells what parameters are that have no part in any set.
func meaningOf(name string) (meaning, bool) {
	switch name {
	case "list_file":
		return meaning{Elsewhere, "the document itself is the list", ""}, true
	case "db_url", "table_name", "setid_col", "destination_col", "flags_col", "priority_col", "attrs_col":
		return meaning{Elsewhere, "the document lives in the cluster, and no database is needed", ""}, true
	case "xavp_dst", "xavp_ctx", "xavp_dst_mode", "xavp_ctx_mode", "force_dst", "setid_pvname", "attrs_pvname", "ds_attrs_none",
		"dst_avp", "grp_avp", "cnt_avp", "dstid_avp", "attrs_avp", "sock_avp":
		return meaning{Elsewhere, "is a matter of the script", ""}, true
	case "ds_hash_size", "ds_hash_expire", "ds_hash_initexpire", "ds_hash_check_interval":
		return meaning{Elsewhere, "calls are counted by themselves", ""}, true
	case "ds_timer_mode":
		return meaning{Elsewhere, "is a matter of Kamailio's processes", ""}, true
	case "ds_load_mode":
		return meaning{Elsewhere, "a document with a fault is refused whole", ""}, true
	case "reload_delta":
		return meaning{Elsewhere, "changes take effect at once, on all nodes", ""}, true
	case "ds_dns_interval", "ds_dns_ttl":
		return meaning{Elsewhere, "names are resolved again when their records say so", ""}, true
	case "ds_default_socket", "ds_default_sockname", "ds_ping_socket":
		return meaning{Elsewhere, "listeners stand in the node file", ""}, true
	case "ds_ping_latency_stats":
		return meaning{Same, "latency is always measured", ""}, true
	case "ds_retain_latency_stats":
		return meaning{Same, "measurements stay when the document changes", ""}, true
	case "ds_latency_estimator_alpha":
		return meaning{Adapted, "the weight of a new measurement is fixed", ""}, true
	case "outbound_proxy":
		return meaning{Lost, "probes go where calls go", ""}, true
	case "ds_ping_from":
		return meaning{Lost, "probes come from the node's own address", "have the far ends answer OPTIONS from there"}, true
	case "event_callback":
		return meaning{Lost, "events are log lines and metrics", "watch the states of members in metrics"}, true
	case "ds_db_extra_attrs":
		return meaning{Lost, "columns of one's own are not read", "put them into attrs before the import"}, true
	case "ds_iplist_delim":
		return meaning{Lost, "lists of addresses in one destination are not read", "write one destination for each"}, true
	}
	return meaning{}, false
}

// ofSets tells whether a parameter is reported with the sets that go by it.
func ofSets(name string) bool {
	switch name {
	case "flags", "use_default", "hash_pvar", "ds_ping_interval", "ds_ping_method", "ds_ping_fr_timer", "fr_timer", "ds_probing_mode",
		"ds_probing_threshold", "ds_inactive_threshold", "ds_ping_reply_codes", "ds_dns_mode":
		return true
	}
	return false
}

// takeParams reads the parameters that hold for all sets, and reports those that
// have no part in any.
func (k *kamailio) takeParams() {
	if k.configured || k.params["flags"].value != "" {
		k.flags = k.number("flags", 0)
	}
	k.useDefault = k.number("use_default", 0) != 0
	for _, name := range slices.Sorted(maps.Keys(k.params)) {
		p := k.params[name]
		item := name + "=" + p.value
		if name == "db_url" {
			item = name // it may have a password
		}
		m, known := meaningOf(name)
		switch {
		case known:
			k.Report.add(p.place, m.outcome, item, "", m.why, m.remedy)
		case name == "ds_ping_method" && !strings.EqualFold(p.value, "OPTIONS"):
			k.Report.lost(p.place, item, "probes are OPTIONS", "have the far ends answer OPTIONS")
		case ofSets(name):
		default:
			k.Report.lost(p.place, item, "is no parameter of the dispatcher that is known here", "")
		}
	}
}

// monitoring makes the probes of a group (K-23).
func (k *kamailio) monitoring(g *trunkgroup.GroupSpec, rows []destination) trunkgroup.MonitoringSpec {
	seconds := k.number("ds_ping_interval", 0)
	at := k.params["ds_ping_interval"].place
	item := fmt.Sprintf("set %d: ds_ping_interval=%d", rows[0].set, seconds)
	never := !slices.ContainsFunc(rows, func(d destination) bool { return d.flags&flagNoPing == 0 })
	switch {
	case seconds <= 0 && !k.configured && k.params["ds_ping_interval"].value == "":
		k.Report.lost(rows[0].place, fmt.Sprintf("set %d: probes", rows[0].set), "stand in kamailio.cfg, which was not among the inputs: nothing is probed",
			"import kamailio.cfg too, or say --modparam ds_ping_interval=SECONDS")
		return trunkgroup.MonitoringSpec{}
	case seconds <= 0:
		k.Report.same(at, item, g.Name+": no monitoring; all members are always active")
		return trunkgroup.MonitoringSpec{}
	case never:
		k.Report.same(rows[0].place, fmt.Sprintf("set %d: flag 32 everywhere", rows[0].set), g.Name+": no monitoring")
		return trunkgroup.MonitoringSpec{}
	}
	s := trunkgroup.MonitoringSpec{Profile: "kamailio", Interval: trunkgroup.Duration(time.Duration(min(seconds, 1<<20)) * time.Second)}
	if mode := k.number("ds_probing_mode", 0); mode == 1 {
		k.Report.same(at, item, g.Name+": monitoring")
	} else {
		k.Report.adapted(at, item, g.Name+": monitoring", fmt.Sprintf("all members are probed always, with ds_probing_mode=%d only some", mode))
	}
	k.probeTimeout(g, &s)
	s.DownAfter = threshold(k.number("ds_probing_threshold", 1))
	s.UpAfter = threshold(k.number("ds_inactive_threshold", 1))
	if p := k.params["ds_ping_reply_codes"]; p.value != "" {
		s.GoodCodes = k.replyCodes(p, g)
	}
	return s
}

// threshold leaves the profile's own value out.
func threshold(n int) int {
	if n <= 1 {
		return 0
	}
	return min(n, 1000)
}

// probeTimeout is tm's fr_timer where it is shorter than the interval.
func (k *kamailio) probeTimeout(g *trunkgroup.GroupSpec, s *trunkgroup.MonitoringSpec) {
	name := "ds_ping_fr_timer"
	if k.params[name].value == "" {
		name = "fr_timer"
	}
	ms := k.number(name, 0)
	if ms <= 0 {
		return
	}
	item := fmt.Sprintf("%s=%d", name, ms)
	d := trunkgroup.Duration(time.Duration(min(ms, 1<<30)) * time.Millisecond)
	if d >= s.Interval {
		k.Report.adapted(k.params[name].place, item, g.Name, "a probe waits less than the interval for its reply: half of it, 2s at most")
		return
	}
	s.Timeout = d
	k.Report.same(k.params[name].place, item, g.Name+": monitoring.timeout")
}

// registered are the final responses of a class that SIP knows.
func registered(class int) []int {
	switch class {
	case 2:
		return []int{200, 202, 204}
	case 3:
		return []int{300, 301, 302, 305, 380}
	case 4:
		return []int{
			400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 412, 413, 414, 415, 416, 417, 420, 421, 422, 423, 424, 425, 428, 429, 430,
			433, 436, 437, 438, 439, 440, 469, 470, 480, 481, 482, 483, 484, 485, 486, 487, 488, 489, 491, 493, 494,
		}
	case 5:
		return []int{500, 501, 502, 503, 504, 505, 513, 555, 580}
	case 6:
		return []int{600, 603, 604, 606, 607, 608}
	}
	return nil
}

// replyCodes reads ds_ping_reply_codes: code=403 and class=2, beside 200. Of a
// class the codes that SIP knows are taken, and 408 is not: it is how Kamailio
// itself calls silence.
func (k *kamailio) replyCodes(p param, g *trunkgroup.GroupSpec) []int {
	good := map[int]bool{200: true}
	for _, a := range splitAttrs(p.value) {
		n, err := strconv.Atoi(a.value)
		switch {
		case err != nil:
			k.Report.lost(p.place, "ds_ping_reply_codes: "+a.name+"="+a.value, "is neither code=NUMBER nor class=NUMBER", "set good_codes")
		case equalName(a.name, "class") && registered(n) != nil:
			for _, code := range registered(n) {
				good[code] = code != 408
			}
		case equalName(a.name, "code") && n >= 200 && n <= 699:
			good[n] = n != 408
		default:
			k.Report.lost(p.place, "ds_ping_reply_codes: "+a.name+"="+a.value, "is no final response", "set good_codes")
		}
	}
	var codes []int
	for code := range good {
		if good[code] {
			codes = append(codes, code)
		}
	}
	slices.Sort(codes)
	k.Report.adapted(p.place, "ds_ping_reply_codes="+p.value, g.Name+": monitoring.good_codes", "of a class the registered codes; a 408 is never good")
	if len(codes) == 1 {
		return nil // what the profile has
	}
	return codes
}
