package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) banCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "Show from whom nothing is taken", Args: arguments(),
		Long: `Shows the addresses and networks that are shut out on all nodes: why, by whom, since when and until
when. BY is auto for a source that was banned for what it did; BEFORE is how often it was banned before.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var list admin.BanList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/bans"}, &list); err != nil {
				return err
			}
			if list.Note != "" {
				fmt.Fprintf(c.err, "note: %s\n", list.Note)
			}
			return c.print(list, func() *table { return banTable(list.Bans...) })
		}),
	}
	return group("ban", "Addresses and networks from which nothing is taken", list, c.banAddCommand(), c.banRemoveCommand())
}

func (c *cli) banAddCommand() *cobra.Command {
	var f intent
	var life time.Duration
	var force bool
	cmd := &cobra.Command{
		Use: "add PREFIX", Short: "Shut an address or a network out, for a time",
		Long: `Takes nothing more from an address or a network: what comes is dropped unread, and connections from it
are closed. It holds on all nodes of all sites within a second and ends by itself, after a day at most;
what shall stay out for good belongs into deny of the listeners, or into a firewall. Networks wider than
/24, or /48 of IPv6, and networks with far ends of trunk groups in them need --force.`,
		Example: "  tandem ban add 198.51.100.7 --for 2h --reason 'guesses numbers'",
		Args:    arguments("PREFIX"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if f.reason == "" {
				return usage("for example --reason 'guesses numbers'", "a ban wants a --reason")
			}
			if life < time.Second || life > 24*time.Hour {
				return usage("write 1s to 24h; deny of a listener has no end", "--for %s is out of bounds", life)
			}
			var b admin.Ban
			order := admin.BanOrder{Prefix: args[0], Seconds: int(life / time.Second), Author: cmp.Or(f.author, whoami()), Reason: f.reason, Force: force}
			if err := c.post(cmd, "/v1/bans", order, &b); err != nil {
				return err
			}
			return c.print(b, func() *table { return banTable(b) })
		}),
	}
	f.register(cmd)
	cmd.Flags().DurationVar(&life, "for", time.Hour, "how long, 24h at most")
	cmd.Flags().BoolVar(&force, "force", false, "also a wide network, and one with far ends of trunk groups in it")
	return cmd
}

func (c *cli) banRemoveCommand() *cobra.Command {
	var author string
	cmd := &cobra.Command{
		Use: "remove PREFIX", Short: "Lift a ban",
		Long: `Lifts a ban on all nodes, as list writes its prefix, and forgets what the source did.`,
		Args: arguments("PREFIX"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			var b admin.Ban
			if err := c.post(cmd, "/v1/bans/remove", admin.BanRemoval{Prefix: args[0], Author: cmp.Or(author, whoami())}, &b); err != nil {
				return err
			}
			return c.print(b, func() *table { return banTable(b) })
		}),
	}
	cmd.Flags().StringVar(&author, "author", "", "who; the user of this process unless given")
	return cmd
}

func banTable(list ...admin.Ban) *table {
	t := &table{head: []string{"PREFIX", "REASON", "BY", "NODE", "SINCE", "UNTIL", "BEFORE"}}
	for _, b := range list {
		t.add(b.Prefix, b.Reason, b.By, b.Node, b.Since.UTC().Format(time.RFC3339), b.Until.UTC().Format(time.RFC3339), strconv.Itoa(b.Before))
	}
	return t
}
