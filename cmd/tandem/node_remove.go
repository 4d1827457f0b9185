package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) nodeRemoveCommand() *cobra.Command {
	var f intent
	var few bool
	cmd := &cobra.Command{
		Use: "remove NODE --reason WHY", Short: "Take a node that has stopped out of the cluster for good",
		Long: `Takes a node that was stopped, or is lost, out of the configuration log, and has all nodes forget it: nobody
waits for it, dials it or misses it any more. Its vote goes to a node of its site that has none, if there is one. Ask any
other node. It is refused while the node gives a sign of life.

Take it out of cluster.peers and cluster.raft.voters of the other nodes' files too: a node that restarts looks for
those that its file names. A removed node that is started again is a member again.`,
		Example: "  tandem node remove dal-4 --reason 'machine sold'",
		Args:    arguments("NODE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if f.reason == "" {
				return usage("for example --reason 'machine sold'", "a removal wants a --reason")
			}
			var gone admin.Gone
			order := admin.RemoveOrder{Node: args[0], Author: cmp.Or(f.author, whoami()), Reason: f.reason, Few: few}
			if err := c.post(cmd, "/v1/cluster/remove", order, &gone); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(gone, nil)
			}
			_, err := fmt.Fprintf(c.out, "node %s is removed from cluster %s; voters: %s\n", gone.Node, gone.Cluster, strings.Join(gone.Voters, ", "))
			return err
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&few, "few", false, "also when less than three voters are left")
	return cmd
}
