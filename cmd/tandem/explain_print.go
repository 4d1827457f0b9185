package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// bindingCauses are those of registered far ends.
var bindingCauses = []string{trunkgroup.CauseUnregistered, trunkgroup.CauseNodeDown, trunkgroup.CauseFlowGone, trunkgroup.CauseUserGone}

// printExplanation prints the steps, then the try-order.
func (c *cli) printExplanation(e *admin.Explanation) error { return c.printExplanationOf(e, false) }

// printExplanationOf prints the orders of other sites too, where it is asked to.
func (c *cli) printExplanationOf(e *admin.Explanation, allSites bool) error {
	steps := &table{head: []string{"STEP", "DECISION"}}
	for _, a := range e.Assumed {
		steps.add("assumed", a)
	}
	for _, s := range e.Steps {
		steps.add(s.Name, s.Text)
	}
	if e.Code != 0 {
		steps.add("answer", fmt.Sprintf("%d to the caller", e.Code))
	}
	tables := []*table{steps}
	if len(e.Order) > 0 {
		tables = append(tables, orderTable(e.Order))
	}
	tables = append(tables, rulesTable(e), sitesTable(e.Sites), limitsTable(e.Limits), endingsTable(e.Endings))
	for i := range e.Sites {
		if allSites && len(e.Sites[i].Order) > 0 {
			tables = append(tables, orderTable(e.Sites[i].Order))
		}
	}
	for i, t := range tables {
		if len(t.rows) == 0 && i > 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(c.out)
		}
		if err := t.write(c.out); err != nil {
			return err
		}
	}
	for _, o := range e.Order {
		if o.Cause == trunkgroup.CauseUnregistered && o.Why == "" {
			fmt.Fprintf(c.err, "note: tandem registration list --member %s/%s says whether a node refuses it, and why\n", o.Group, o.Member)
		}
	}
	return nil
}

// column is one that is shown only where a line has something to say in it.
type column struct {
	head string
	cell func(o *trunkgroup.OrderLine) string
}

var orderColumns = []column{
	{"WEIGHT", weightOf},
	{"CALLS", callsOf},
	{"LATENCY", func(o *trunkgroup.OrderLine) string {
		if o.Latency == 0 {
			return ""
		}
		return fmt.Sprintf("%.1f ms", o.Latency)
	}},
	{"SCORE", func(o *trunkgroup.OrderLine) string {
		if o.Score == 0 {
			return ""
		}
		return strconv.FormatUint(o.Score, 16) // as group hash shows it
	}},
}

// orderTable is a try-order.
func orderTable(order []trunkgroup.OrderLine) *table {
	t := &table{head: []string{"TRY", "MEMBER", "SITE", "ADDRESS", "STATE", "NOT TRIED BECAUSE"}}
	columns := slices.DeleteFunc(slices.Clone(orderColumns), func(x column) bool {
		return !slices.ContainsFunc(order, func(o trunkgroup.OrderLine) bool { return x.cell(&o) != "" })
	})
	for _, x := range columns {
		t.head = append(t.head, x.head)
	}
	n := 0
	for i := range order {
		o := &order[i]
		try := ""
		if o.Dialable {
			n++
			try = fmt.Sprint(n)
		}
		name := o.Group + "/" + o.Member
		if o.Within != "" {
			name += " in " + o.Within
		}
		row := []string{try, name, o.Site, strings.TrimSpace(o.Contact + " " + o.Addr), o.State, becauseOf(o)}
		for _, x := range columns {
			row = append(row, x.cell(o))
		}
		t.add(row...)
	}
	return t
}

// becauseOf says why a far end is not tried.
func becauseOf(o *trunkgroup.OrderLine) string {
	switch {
	case o.Cause == o.State && o.Why != "":
		return o.Why // the state stands beside it
	case slices.Contains(bindingCauses, o.Cause) && o.Why != "":
		return o.Why // it says the cause, and more
	case o.Cause == trunkgroup.CauseQuality && o.Why != "":
		return o.Cause + ": " + o.Why
	}
	return o.Cause
}

// callsOf are the calls of a far end that the distribution goes by.
func callsOf(o *trunkgroup.OrderLine) string {
	switch {
	case o.Sessions == nil:
		return ""
	case *o.Sessions < 0:
		return "not reported"
	case o.MaxCalls > 0:
		return fmt.Sprintf("%d of %d", *o.Sessions, o.MaxCalls)
	}
	return strconv.Itoa(*o.Sessions)
}

// weightOf is what a member counts, where that is not one.
func weightOf(o *trunkgroup.OrderLine) string {
	switch {
	case o.Ramp > 0:
		return fmt.Sprintf("%d, %d %% of it", o.Weight, o.Ramp)
	case o.Weight > 1:
		return strconv.Itoa(o.Weight)
	}
	return ""
}
