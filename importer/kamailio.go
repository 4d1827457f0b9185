package importer

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// KamailioOptions says of Kamailio's dispatcher what its lists do not.
type KamailioOptions struct {
	Target
	// Role of the groups that sets become; default pstn-provider.
	Role trunkgroup.Role
	// Roles, Names and Algorithms are for single sets, by their numbers.
	Roles      map[int]trunkgroup.Role
	Names      map[int]string
	Algorithms map[int]int
	// Algorithm is that of all other sets; nil: what the configuration says.
	Algorithm *int
	// Params are parameters of the module, stronger than those of the
	// configuration: ds_ping_interval and so on.
	Params map[string]string
	// ExactHash keeps the places that Kamailio gives to keys (C2), and what follows
	// from them when a far end goes. Without it few keys move then (D1).
	ExactHash bool
}

// Bounds of one import.
const (
	maxDestinations = 100_000
	maxSets         = 10_000
)

// destination is one row of the dispatcher.
type destination struct {
	place
	set      int
	uri      string
	flags    int
	priority int
	attrs    string
}

// selection is one call of ds_select_dst or its like.
type selection struct {
	place
	text      string
	set       int
	algorithm int
	limit     int
}

// param is the value of a module parameter.
type param struct {
	place
	value string
}

// kamailio is one import.
type kamailio struct {
	*Result
	o          KamailioOptions
	rows       []destination
	params     map[string]param
	selections []selection
	chains     []chain
	configured bool // a kamailio.cfg was read
	flags      int  // of the module: 1 hashes users only, 2 fails over
	useDefault bool // the last entry of a set is tried last
	taken      names
	names      []string // of the inputs
}

// Kamailio imports destinations from dispatcher.list, from rows of the table
// dispatcher (CSV, TSV, or INSERT statements) and, where it is among the inputs,
// what kamailio.cfg says of them. The kind of each input is told by its content.
func Kamailio(inputs []Input, o KamailioOptions) (*Result, error) {
	if o.Role == 0 {
		o.Role = trunkgroup.PSTNProvider
	}
	k := &kamailio{Result: newResult(o.Target), o: o, params: map[string]param{}, taken: names{}, flags: 2}
	texts, err := texts(inputs)
	if err != nil {
		return nil, err
	}
	for _, in := range texts {
		k.names = append(k.names, in.Name)
	}
	// The configuration says how the table is called.
	slices.SortStableFunc(texts, func(a, b Input) int { return sniff(b.Text).first() - sniff(a.Text).first() })
	for _, in := range texts {
		if err := k.read(in); err != nil {
			return nil, err
		}
	}
	for name, value := range o.Params {
		k.params[name] = param{place{file: "--modparam"}, value}
	}
	k.takeParams()
	if err := k.sets(); err != nil {
		return nil, err
	}
	k.routes()
	return k.Result, k.settle()
}

func (k *kamailio) read(in Input) error {
	switch sniff(in.Text) {
	case kindConfig:
		k.configured = true
		return k.config(in)
	case kindSQL:
		return k.inserts(in)
	case kindRows:
		return k.table(in)
	default:
		return k.list(in)
	}
}

// addRow takes one destination.
func (k *kamailio) addRow(d destination) error {
	if len(k.rows) == maxDestinations {
		return fmt.Errorf("%s:%d: more than %d destinations", d.file, d.line, maxDestinations)
	}
	k.rows = append(k.rows, d)
	return nil
}

// sets makes a group of each set, in the order of their numbers.
func (k *kamailio) sets() error {
	bySet := make(map[int][]destination)
	var order []int
	for _, d := range k.rows {
		if bySet[d.set] == nil {
			order = append(order, d.set)
		}
		bySet[d.set] = append(bySet[d.set], d)
	}
	if len(order) > maxSets {
		return fmt.Errorf("%d sets, more than %d", len(order), maxSets)
	}
	slices.Sort(order)
	for _, id := range order {
		k.group(id, asKamailioOrders(bySet[id]))
	}
	for _, s := range k.selections {
		if bySet[s.set] == nil {
			k.Report.lost(s.place, s.text, fmt.Sprintf("set %d has no destinations in what was read", s.set), "import the list that has them as well")
		}
	}
	return nil
}

// asKamailioOrders returns the destinations as the module holds them: the highest
// priority first, and of equal ones the later line.
func asKamailioOrders(rows []destination) []destination {
	out := slices.Clone(rows)
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b destination) int { return b.priority - a.priority })
	return out
}

// groupName is the name of the group of a set.
func (k *kamailio) groupName(set int) string {
	if name := k.o.Names[set]; name != "" {
		return name
	}
	return "set-" + strconv.Itoa(set)
}

func (k *kamailio) role(set int) trunkgroup.Role {
	if r := k.o.Roles[set]; r != 0 {
		return r
	}
	return k.o.Role
}
