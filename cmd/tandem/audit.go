package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) auditCommand() *cobra.Command {
	var since, subject string
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "Show what the asked node did, was asked for, or heard of",
		Long: `Shows the newest entries of the asked node's audit trail, oldest first: orders and changes with who wanted them,
why, and what became of them. VIA is api for what this node was asked for, the name of the node that passed an order
or told of it, or self. Each node has a trail of its own, in the directory audit of its data directory.`,
		Example: "  tandem audit list --since 24h --subject acme-in/pbx-1",
		Args:    arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			if subject != "" {
				query.Set("subject", subject)
			}
			if since != "" {
				from, err := moments(since)
				if err != nil {
					return err
				}
				query.Set("since", from.UTC().Format(time.RFC3339))
			}
			var list admin.AuditList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/audit?" + query.Encode()}, &list); err != nil {
				return err
			}
			if list.Lost > 0 {
				fmt.Fprintf(c.err, "note: %d entries since the start of %s found no room\n", list.Lost, list.Node)
			}
			return c.print(list, func() *table { return auditTable(&list) })
		}),
	}
	list.Flags().StringVar(&since, "since", "", "a time like 2026-11-30T12:00:00Z, or how long ago, like 24h")
	list.Flags().StringVar(&subject, "subject", "", "only what is about it; a part of its name is enough")
	list.Flags().IntVar(&limit, "limit", 100, "the newest so many")
	return group("audit", "Who changed what", list)
}

// moments reads a time, or how long ago it was.
func moments(text string) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, usage("write 2026-11-30T12:00:00Z, or 24h for how long ago", "%q is no time", text)
	}
	return t, nil
}

func auditTable(list *admin.AuditList) *table {
	t := &table{head: []string{"TIME", "VIA", "AUTHOR", "WHAT", "SUBJECT", "DETAIL", "REASON", "OUTCOME"}}
	for i := range list.Entries {
		e := &list.Entries[i]
		t.add(e.Time.UTC().Format(time.RFC3339), e.Via, e.Author, e.Verb, e.Subject, e.Detail, e.Reason, e.Outcome)
	}
	return t
}
