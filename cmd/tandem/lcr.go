package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// lcrCommand holds what is about plans that leave the decision to a server.
func (c *cli) lcrCommand() *cobra.Command {
	return group("lcr", "Decision servers of route plans", c.lcrStatusCommand(), c.lcrAskCommand(), c.lcrFlushCommand())
}

func (c *cli) lcrStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the decision servers, as the asked node sees them", Args: arguments(),
		Long: `Shows the server of every plan that has one: whether it brings decisions, since when not and why, what questions
take, and how many calls had a kept answer, had to ask, or got the fallback group.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var list admin.DecisionList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/lcr"}, &list); err != nil {
				return err
			}
			return c.print(list, func() *table { return decisionServers(&list) })
		}),
	}
}

func decisionServers(list *admin.DecisionList) *table {
	t := &table{head: []string{"PLAN", "STATE", "SINCE", "BREAKER", "URL", "MEAN", "PENDING", "KEPT ANSWERS", "ASKED", "FALLBACKS", "WHY"}}
	for i := range list.Servers {
		s := &list.Servers[i]
		why := s.Why
		if s.NextTry != nil {
			why += ", tried again at " + moment(s.NextTry)
		}
		t.add(s.Plan, s.State, moment(s.Since), s.Breaker, s.URL, fmt.Sprintf("%.1f ms", s.MeanMs), strconv.Itoa(s.Pending),
			strconv.FormatUint(s.Hits, 10), strconv.FormatUint(s.Misses, 10), strconv.FormatUint(s.Fallbacks, 10), why)
	}
	return t
}

func (c *cli) lcrAskCommand() *cobra.Command {
	var q admin.DecisionQuestion
	cmd := &cobra.Command{
		Use: "ask NUMBER", Short: "Ask a decision server about a number", Args: arguments("NUMBER"),
		Long: `Asks the plan's decision server as a call to the number would, and shows what it says and what of it is odd.
No call is placed, and the answer is not kept. A server that is left alone for its failures is asked all the same.`,
		Example: "  tandem lcr ask +12025550123 --group acme-out",
		RunE: action(func(cmd *cobra.Command, args []string) error {
			q.Number = args[0]
			var a admin.DecisionAnswer
			if err := c.post(cmd, "/v1/lcr/ask", &q, &a); err != nil {
				return err
			}
			for _, n := range a.Notes {
				fmt.Fprintf(c.err, "note: %s\n", n)
			}
			if a.Why != "" {
				fmt.Fprintf(c.err, "note: no decision: %s\n", a.Why)
			}
			return c.print(a, func() *table { return decisionTable(&a) })
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Plan, "plan", "", "the plan; unless given that of the group, or the only one with a server")
	flags.StringVar(&q.Group, "group", "", "the customer's trunk group")
	flags.StringVar(&q.Caller, "caller", "", "number of the caller")
	return cmd
}

func decisionTable(a *admin.DecisionAnswer) *table {
	t := &table{head: []string{"TRY", "CARRIER", "GROUP", "NEXT HOP", "ADDRESSES", "RATE", "TIMEOUT", "CAUSES"}}
	if a.Code != 0 {
		t.add("", "refused", "", "", fmt.Sprintf("%d %s", a.Code, a.Reason))
	}
	for i := range a.Routes {
		r := &a.Routes[i]
		rate := ""
		if r.Rate != nil {
			rate = strings.TrimSpace(strconv.FormatFloat(*r.Rate, 'f', -1, 64) + " " + r.Currency)
		}
		causes := make([]string, len(r.Causes))
		for j, code := range r.Causes {
			causes[j] = strconv.Itoa(code)
		}
		t.add(strconv.Itoa(i+1), r.Carrier, r.Group, cmp.Or(r.NextHop, r.RURI), strings.Join(r.Hops, " "), rate, r.Timeout, strings.Join(causes, " "))
	}
	return t
}

func (c *cli) lcrFlushCommand() *cobra.Command {
	var f admin.DecisionFlush
	var all bool
	cmd := &cobra.Command{
		Use: "flush", Short: "Forget kept answers, on all nodes", Args: arguments(),
		Long: `Forgets the kept answers of a plan, of one number of a customer, or with --all of all plans, on all nodes of
all sites: the next call asks. What was asked before and is still under way is not kept either.`,
		Example: "  tandem lcr flush --plan lcr\n  tandem lcr flush --number +12025550123 --group acme-out",
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.Plan == "" && f.Number == "" && !all:
				return usage("name a --plan, a --number with its --group, or write --all", "nothing says what to forget")
			case f.Number != "" && all:
				return usage("take out one of the two", "--all and --number do not go together")
			}
			f.Author = cmp.Or(f.Author, whoami())
			var done admin.DecisionFlushed
			if err := c.post(cmd, "/v1/lcr/flush", &f, &done); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(done, nil)
			}
			fmt.Fprintf(c.out, "%s forgotten at the asked node; the other nodes are told\n", count(done.Forgotten, "answer"))
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Plan, "plan", "", "the answers of this plan")
	flags.StringVar(&f.Number, "number", "", "the answer for this number")
	flags.StringVar(&f.Group, "group", "", "the customer's trunk group, of the number")
	flags.BoolVar(&all, "all", false, "the answers of all plans")
	flags.StringVar(&f.Author, "author", "", "who; the user of this process unless given")
	return cmd
}
