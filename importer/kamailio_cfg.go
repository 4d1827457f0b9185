package importer

import (
	"fmt"
	"strconv"
	"strings"
)

// maxSelections bounds the calls of the dispatcher in one configuration.
const maxSelections = 10_000

// config takes from kamailio.cfg the parameters of the module and how its sets
// are selected.
func (k *kamailio) config(in Input) error {
	tokens := lexConfig(string(in.Text))
	for i := range tokens {
		if tokens[i].quoted || i+1 >= len(tokens) {
			continue
		}
		if tokens[i].text == "include_file" || tokens[i].text == "import_file" {
			k.included(place{in.Name, tokens[i].line}, tokens[i].text, tokens[i+1].text)
		}
		if tokens[i+1].text != "(" || !strings.HasPrefix(tokens[i].text, "modparam") && !strings.HasPrefix(tokens[i].text, "ds_") {
			continue
		}
		at := place{in.Name, tokens[i].line}
		args, ok := arguments(tokens[i+2:])
		if !ok {
			continue
		}
		text := tokens[i].text + "(" + strings.Join(args, ", ") + ")"
		switch name := tokens[i].text; {
		case name == "modparam" || name == "modparamx":
			k.modparam(at, args)
		case strings.HasPrefix(name, "ds_"):
			k.call(at, name, text, args)
		}
		if len(k.selections) > maxSelections {
			return fmt.Errorf("%s: more than %d calls of the dispatcher", in.Name, maxSelections)
		}
	}
	return nil
}

// included reports a file that the configuration goes on in, unless it is an input
// itself.
func (k *kamailio) included(at place, verb, name string) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	for _, in := range k.names {
		if in[strings.LastIndexByte(in, '/')+1:] == base {
			return
		}
	}
	k.Report.lost(at, verb+" "+name, "is another file, and not among the inputs", "import it as well, where it has something of the dispatcher")
}

// arguments reads up to the closing bracket. Each one is a word or a text in
// quotes; of anything else the tokens are joined.
func arguments(tokens []cfgToken) ([]string, bool) {
	var args []string
	var arg strings.Builder
	depth := 0
	for i, t := range tokens {
		switch {
		case i > 64:
			return nil, false
		case t.quoted:
			arg.WriteString(t.text)
		case t.text == ")" && depth == 0:
			if arg.Len() > 0 || len(args) > 0 {
				args = append(args, arg.String())
			}
			return args, true
		case t.text == "," && depth == 0:
			args = append(args, arg.String())
			arg.Reset()
		default:
			if t.text == "(" {
				depth++
			}
			if t.text == ")" {
				depth--
			}
			arg.WriteString(t.text)
		}
	}
	return nil, false
}

// modparam takes the parameters of the dispatcher and tm's time for a final reply,
// which is how long a probe waits.
func (k *kamailio) modparam(at place, args []string) {
	if len(args) != 3 {
		return
	}
	for module := range strings.SplitSeq(args[0], "|") {
		switch {
		case module == "dispatcher":
			k.params[args[1]] = param{at, args[2]}
		case module == "tm" && args[1] == "fr_timer":
			k.params["fr_timer"] = param{at, args[2]}
		}
	}
}

// call takes one call of a function of the module.
func (k *kamailio) call(at place, name, text string, args []string) {
	switch name {
	case "ds_select_dst", "ds_select_domain", "ds_select":
		k.selected(at, text, args)
	case "ds_select_routes":
		k.selectedRoutes(at, text, args)
	case "ds_mark_dst", "ds_mark_addr":
		k.Report.adapted(at, text, "", "calls that get no answer count against a far end by themselves (docs/monitoring.md); finals that shall count too go into passive_codes")
	case "ds_is_from_list", "ds_is_from_lists":
		k.Report.same(at, text, "sources: a carrier is known by the addresses of its members")
	case "ds_next_dst", "ds_next_domain":
		k.Report.same(at, text, "advance_on: after which finals the next member is tried")
	case "ds_load_update", "ds_load_unset":
		k.Report.same(at, text, "calls are counted by themselves")
	case "ds_list_exists", "ds_is_active", "ds_is_active_uri", "ds_reload", "ds_dsg_fetch", "ds_dsg_fetch_uri", "ds_dsg_reset", "ds_oc_set_attrs":
		k.Report.lost(at, text, "is logic of the script", "tandem member list and tandem group hash tell an operator the same")
	}
}

func (k *kamailio) selected(at place, text string, args []string) {
	if len(args) < 2 {
		return
	}
	set, err := strconv.Atoi(strings.TrimSpace(args[0]))
	if err != nil {
		k.Report.lost(at, text, "the set is known only while the script runs", "give each use a group of its own, and say with numbers or route plans which calls go there")
		return
	}
	s := selection{place: at, text: text, set: set}
	if s.algorithm, err = strconv.Atoi(strings.TrimSpace(args[1])); err != nil {
		k.Report.lost(at, text, "the algorithm is known only while the script runs", fmt.Sprintf("say it: --algorithm %d=NUMBER", set))
		return
	}
	if len(args) > 2 {
		if s.limit, err = strconv.Atoi(strings.TrimSpace(args[2])); err != nil || s.limit < 0 {
			s.limit = 0
		}
	}
	k.selections = append(k.selections, s)
}

// chain is a call of ds_select_routes: sets that are tried one after the other.
type chain struct {
	place
	text string
	sets []int
}

func (k *kamailio) selectedRoutes(at place, text string, args []string) {
	if len(args) == 0 {
		return
	}
	c := chain{place: at, text: text}
	for rule := range strings.SplitSeq(args[0], ";") {
		set, algorithm, ok := strings.Cut(rule, "=")
		a, err1 := strconv.Atoi(strings.TrimSpace(set))
		b, err2 := strconv.Atoi(strings.TrimSpace(algorithm))
		if !ok || err1 != nil || err2 != nil {
			k.Report.lost(at, text, "the rules are known only while the script runs", "write a route plan")
			return
		}
		c.sets = append(c.sets, a)
		k.selections = append(k.selections, selection{place: at, text: text, set: a, algorithm: b})
	}
	if len(args) > 2 && args[2] != "0" {
		k.Report.lost(at, text, "a limit over several sets has no equal", "set max_attempts of each group")
	}
	k.chains = append(k.chains, c)
}
