package main

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) limitCommand() *cobra.Command {
	return group("limit", "Limits of customers, groups and members", c.limitListCommand())
}

func (c *cli) limitListCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "Show limits and what is in use", Args: arguments(),
		Long: `Shows every limit of the document with what is in use of it: in the cluster and in the site as last
heard, and at the asked node, whose share the rest of the cluster counts as used. OWN is what the site has by
itself, and all it has while it sees no other site; LENT and BORROWED is what moved between the sites since.
With --all, also what has no limit and is in use.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var list admin.LimitList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/limits"}, &list); err != nil {
				return err
			}
			lines := []admin.Limit{}
			for _, l := range list.Limits {
				if all || l.Max > 0 {
					lines = append(lines, l)
				}
			}
			return c.print(lines, func() *table { return limitTable(lines) })
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "also show what has no limit")
	return cmd
}

func limitTable(lines []admin.Limit) *table {
	t := &table{head: []string{"LIMIT", "KIND", "MAX", "CLUSTER", "SITE", "NODE", "SHARE", "OWN", "LENT", "BORROWED", "WAITING", "GRANTOR", "NOTE"}}
	for _, l := range lines {
		limit, share := "none", ""
		if l.Max > 0 {
			limit, share = strconv.Itoa(l.Max), strconv.Itoa(l.Share)
		}
		n := func(v int) string { return strconv.Itoa(v) }
		t.add(fmt.Sprintf("%s %s", l.Scope, l.Name), l.Kind, limit, n(l.Cluster), n(l.Site), n(l.Used), share, n(l.Own), n(l.Lent),
			n(l.Borrowed), n(l.Waiting), l.Grantor, l.Note)
	}
	return t
}
