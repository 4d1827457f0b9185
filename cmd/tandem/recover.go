package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) clusterRecoverCommand() *cobra.Command {
	var f intent
	cmd := &cobra.Command{
		Use: "recover [CLUSTER]", Short: "Go on without voters that are lost for good",
		Long: `When most voters are lost for good, nothing can be changed any more, though calls go on. This makes
the asked node the only voter, with the newest document that it knows under a raised generation.
Nodes that it reaches follow by themselves and get a vote when one is missing; the voters that are
given up are refused when they come back, and want "tandem cluster rejoin".

Without CLUSTER it only looks, and says what speaks against it and who would be given up. Type the id
of the cluster to do it. It refuses while a lost voter answers by any path, or somebody reachable
runs a newer document.`,
		Example: "  tandem cluster recover\n  tandem cluster recover example --reason 'ashburn and the witness burnt down'",
		Args:    cobra.MaximumNArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			order := admin.RecoverOrder{Author: cmp.Or(f.author, whoami()), Reason: f.reason, DryRun: len(args) == 0}
			if len(args) == 0 {
				id, err := c.clusterID(cmd)
				if err != nil {
					return err
				}
				order.Confirm = id // looking needs no confirmation
			} else {
				order.Confirm = args[0]
				if f.reason == "" {
					return usage("for example --reason 'ashburn and the witness burnt down'", "a recovery wants a --reason")
				}
			}
			var r admin.Recovery
			if err := c.post(cmd, "/v1/cluster/recover", order, &r); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(r, nil)
			}
			return c.printRecovery(&r)
		}),
	}
	f.register(cmd)
	return cmd
}

func (c *cli) printRecovery(r *admin.Recovery) error {
	for _, n := range r.Nodes {
		fmt.Fprintln(c.out, n)
	}
	gone, adopted := cmp.Or(strings.Join(r.Gone, ", "), "nobody"), cmp.Or(strings.Join(r.Adopted, ", "), "nobody")
	if r.DryRun {
		_, err := fmt.Fprintf(c.out, "would be given up: %s; would follow: %s; document %d.%d\nto do it: tandem cluster recover %s --reason WHY\n",
			gone, adopted, r.Generation, r.Revision, r.Cluster)
		return err
	}
	_, err := fmt.Fprintf(c.out, "cluster %s goes on in epoch %d with revision %d.%d; given up: %s; following: %s\n",
		r.Cluster, r.Epoch, r.Generation, r.Revision, gone, adopted)
	return err
}

// clusterID asks the node which cluster it is of.
func (c *cli) clusterID(cmd *cobra.Command) (string, error) {
	list, err := c.nodes(cmd.Context(), 0)
	return list.Cluster, err
}

func (c *cli) clusterRejoinCommand() *cobra.Command {
	var author string
	cmd := &cobra.Command{
		Use: "rejoin CLUSTER", Short: "Discard this node's log and take that of the others",
		Long: `For a node that was given up by a recovery, or whose log is damaged: it puts its log aside, meets the
others with an empty one, and takes their document. What only its log held is lost to the cluster.
CLUSTER is the id of the cluster, typed to be sure.`,
		Example: "  tandem cluster rejoin example --address 127.0.0.1:8080",
		Args:    arguments("CLUSTER"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			var r admin.Rejoined
			if err := c.post(cmd, "/v1/cluster/rejoin", admin.RejoinOrder{Confirm: args[0], Author: cmp.Or(author, whoami())}, &r); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(r, nil)
			}
			_, err := fmt.Fprintf(c.out, "node %s is back in cluster %s with revision %d.%d\n", r.Node, r.Cluster, r.Generation, r.Revision)
			return err
		}),
	}
	cmd.Flags().StringVar(&author, "author", "", "who; the user of this process unless given")
	return cmd
}
