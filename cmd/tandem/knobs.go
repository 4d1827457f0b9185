package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *cli) knobCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "Show what operators said of members and sites",
		Long: "Shows what is in force beside the document, by whom, how old it is and when it ends.",
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var list admin.KnobList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/knobs"}, &list); err != nil {
				return err
			}
			return c.print(list, func() *table { return knobTable(list.Knobs...) })
		}),
	}
	var author string
	renew := &cobra.Command{
		Use: "renew SUBJECT", Short: "Let what an operator said hold longer",
		Long:    "Says again what is in force about a subject, as knob list writes it, so that it ends a whole life from\nnow. Any node takes it: one of the subject's own site carries it out.",
		Example: "  tandem knob renew acme-in/pbx-1\n  tandem knob renew site:dallas",
		Args:    arguments("SUBJECT"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			return c.turn(cmd, "/v1/knobs/renew", admin.RenewOrder{Subject: args[0], Author: cmp.Or(author, whoami())})
		}),
	}
	renew.Flags().StringVar(&author, "author", "", "who; the user of this process unless given")
	return group("knob", "What operators said, for a time and without a quorum", list, renew)
}

// turn sends an order about a knob and prints what is in force then.
func (c *cli) turn(cmd *cobra.Command, path string, order any) error {
	var line admin.KnobLine
	if err := c.post(cmd, path, order, &line); err != nil {
		return err
	}
	return c.print(line, func() *table { return knobTable(line) })
}

func knobTable(lines ...admin.KnobLine) *table {
	t := &table{head: []string{"SUBJECT", "SETTING", "AUTHOR", "AGE", "ENDS", "NODE", "REASON"}}
	for _, k := range lines {
		age := time.Duration(k.Age * float64(time.Second)).Round(time.Second)
		ends := k.Expires.UTC().Format(time.RFC3339)
		if k.Setting == trunkgroup.Active.String() {
			ends = "" // taken back: as the document says, and nothing ends
		}
		t.add(k.Subject, k.Setting, k.Author, age.String(), ends, k.Node, k.Reason)
	}
	return t
}

func (c *cli) memberWeightCommand() *cobra.Command {
	var f intent
	cmd := &cobra.Command{
		Use: "set-weight GROUP/MEMBER N|default", Short: "Give a member another weight, for a time",
		Long: `Gives a member of a group that distributes by weight another one than the document says. It holds at
once, spreads to all nodes without a leader, and ends after 24 hours unless it is said again; default
takes it back. Any node takes it: one of the member's own site carries it out.`,
		Example: "  tandem member set-weight carrier-a/gw-1 5 --reason 'one card of two is broken'",
		Args:    arguments("GROUP/MEMBER", "a weight"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			group, member, ok := strings.Cut(args[0], "/")
			if !ok || group == "" || member == "" {
				return usage("tandem member list shows them", "%q is not GROUP/MEMBER", args[0])
			}
			weight := 0
			if args[1] != "default" {
				n, err := strconv.Atoi(args[1])
				if err != nil || n < 1 {
					return usage("write a number from 1 up, or default; draining takes a member out", "%q is no weight", args[1])
				}
				weight = n
			}
			path := "/v1/members/" + url.PathEscape(group) + "/" + url.PathEscape(member) + "/weight"
			return c.turn(cmd, path, admin.WeightOrder{Weight: weight, Author: cmp.Or(f.author, whoami()), Reason: f.reason})
		}),
	}
	f.register(cmd)
	return cmd
}

func (c *cli) siteCommand() *cobra.Command {
	drain, undrain := c.siteDrainCommand(true), c.siteDrainCommand(false)
	return group("site", "Sites of the cluster", drain, undrain)
}

func (c *cli) siteDrainCommand(drain bool) *cobra.Command {
	var f intent
	cmd := &cobra.Command{
		Use: "undrain SITE", Short: "Let a drained site take calls again",
		Long: "Takes a drain back before it ends by itself.",
		Args: arguments("SITE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if drain && f.reason == "" {
				return usage("for example --reason 'flood in the basement'", "a drain of a site wants a --reason")
			}
			path := "/v1/sites/" + url.PathEscape(args[0]) + "/drain"
			return c.turn(cmd, path, admin.SiteOrder{Drain: drain, Author: cmp.Or(f.author, whoami()), Reason: f.reason})
		}),
	}
	if drain {
		cmd.Use, cmd.Short = "drain SITE", "Send the calls of a site to its peer sites"
		cmd.Long = `Takes all members of a site out: calls that still come to its nodes are handed to the peer sites, and
OPTIONS are answered 503, so that callers leave by themselves. Calls that are up stay up. It holds at
once, spreads to all nodes without a leader, and ends after 24 hours unless it is said again. Any node
takes it: one of the site itself carries it out, and only while a peer site can take the calls.`
		cmd.Example = fmt.Sprintf("  tandem site drain dallas --reason %q", "flood in the basement")
	}
	f.register(cmd)
	return cmd
}
