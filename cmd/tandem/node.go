package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) nodeCommand() *cobra.Command {
	return group("node", "Nodes of the cluster", c.nodeListCommand(), c.nodeDrainCommand(), c.nodeRemoveCommand())
}

func (c *cli) nodeListCommand() *cobra.Command {
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "list", Short: "Show the nodes of the cluster and who leads",
		Long: `Shows the nodes of the cluster as the asked node (*) sees them: SINCE when they are up, or lost
(since when one drains is said by node drain --status there), RTT on the interconnect, RAFT their part
in the configuration log, REVISION the document that they route by, LOAD the share of their calls in
use, BOOT how often they were started. With --wait it waits until the asked node has a document, knows
a leader, and sees all other nodes ready, and fails when that takes longer.`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			list, err := c.nodes(cmd.Context(), wait)
			if err != nil {
				return err
			}
			if !list.Quorum {
				fmt.Fprintf(c.err, "note: no leader for %.0f s; calls go on, changes of the configuration must wait\n", list.StaleSeconds)
			}
			for _, alarm := range list.Alarms {
				fmt.Fprintln(c.err, "alarm:", alarm)
			}
			return c.print(list, func() *table { return nodeTable(list.Nodes) })
		}),
	}
	cmd.Flags().DurationVar(&wait, "wait", 0, "wait until all nodes are ready, at most this long")
	return cmd
}

// nodes asks for the nodes, again and again while there is time to wait for all to be ready.
func (c *cli) nodes(ctx context.Context, wait time.Duration) (admin.NodeList, error) {
	const pause = 200 * time.Millisecond
	end := time.Now().Add(wait)
	for {
		var list admin.NodeList
		err := c.ask(ctx, request{method: http.MethodGet, path: "/v1/nodes"}, &list)
		missing := ""
		if err == nil && wait > 0 {
			missing = unsettled(&list)
		}
		if err == nil && missing == "" || !time.Now().Before(end) {
			if err == nil && missing != "" {
				hint := "tandem node list shows how they are; the logs of nodes that are missing say more"
				if len(list.Alarms) > 0 {
					hint = "the asked node has alarms: " + strings.Join(list.Alarms, "; ")
				}
				err = fail(exitUnavailable, hint, "after %s %s", wait, missing)
			}
			return list, err
		}
		select {
		case <-ctx.Done():
			return list, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// unsettled says what keeps the asked node from having all of the cluster around it, or nothing.
func unsettled(list *admin.NodeList) string {
	var missing []string
	if list.Leader == "" {
		missing = append(missing, "there is no leader")
	}
	for _, n := range list.Nodes {
		switch {
		case n.State != "ready" || !n.Up && !n.Self:
			missing = append(missing, fmt.Sprintf("node %s is %s", n.Name, n.State))
		case n.Self && n.Revision == 0 && !n.Witness:
			missing = append(missing, fmt.Sprintf("node %s has no document", n.Name))
		}
	}
	return strings.Join(missing, ", ")
}

func nodeTable(nodes []admin.Node) *table {
	t := &table{head: []string{"NODE", "SITE", "STATE", "SINCE", "RTT", "RAFT", "REVISION", "LOAD", "BOOT", "VERSION"}}
	for _, n := range nodes {
		name, rtt, revision := n.Name, fmt.Sprintf("%.1f ms", n.RTTMillis), ""
		if n.Self {
			name, rtt = name+" *", ""
		}
		if n.Revision > 0 {
			revision = fmt.Sprintf("%d.%d", n.Generation, n.Revision)
		}
		t.add(name, n.Site, n.State, moment(n.Since), rtt, n.Raft, revision,
			fmt.Sprintf("%.0f %%", 100*n.Load), strconv.FormatUint(n.Boot, 10), n.Version)
	}
	return t
}
