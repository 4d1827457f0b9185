package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) fraudCommand() *cobra.Command {
	return group("fraud", "Bounds of what customers' calls may do", c.fraudListCommand())
}

func (c *cli) fraudListCommand() *cobra.Command {
	var passed bool
	cmd := &cobra.Command{
		Use: "list", Short: "Show what customers' calls do, and the bounds of it", Args: arguments(),
		Long: `Shows every rule of the customers' fraud sections: calls and minutes of the last hour and the last day over
the whole cluster, each with the bound that holds now, and the bounds that calls found passed at the asked node, with what was
done, since when, and how often since the process began. PERCENT is how much that is of the bound in the document: less at
night. With --passed, only rules with such a bound.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var list admin.FraudList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/frauds"}, &list); err != nil {
				return err
			}
			rules := []admin.FraudRule{}
			for _, r := range list.Rules {
				if !passed || len(r.Passed) > 0 {
					rules = append(rules, r)
				}
			}
			return c.print(rules, func() *table { return fraudTable(rules) })
		}),
	}
	cmd.Flags().BoolVar(&passed, "passed", false, "only rules whose bounds calls found passed")
	return cmd
}

func fraudTable(rules []admin.FraudRule) *table {
	t := &table{head: []string{"CUSTOMER", "RULE", "ACTION", "PERCENT", "CALLS/HOUR", "CALLS/DAY", "MINUTES/HOUR", "MINUTES/DAY", "SHORT", "PASSED"}}
	for _, r := range rules {
		var passed []string
		for _, x := range r.Passed {
			passed = append(passed, fmt.Sprintf("%s: %s %d since %s", x.Bound, x.Action, x.Calls, moment(&x.Since)))
		}
		calls := of(r.HourCalls, r.MaxHourCalls, r.Percent)
		if r.Closed {
			calls = "closed"
		}
		t.add(r.Customer, r.Rule, r.Action, strconv.Itoa(r.Percent), calls, of(r.DayCalls, r.MaxDayCalls, r.Percent),
			of(r.HourMinutes, r.MaxHourMinutes, r.Percent), of(r.DayMinutes, r.MaxDayMinutes, r.Percent), of(r.ShortCalls, r.MaxShortCalls, r.Percent), strings.Join(passed, "; "))
	}
	return t
}

// of writes a count and what percent of its bound is, if it has one: rounded up, as
// calls are judged.
func of(n uint64, bound, percent int) string {
	if bound == 0 {
		return strconv.FormatUint(n, 10)
	}
	return fmt.Sprintf("%d of %d", n, (bound*percent+99)/100)
}
