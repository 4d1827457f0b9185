package main

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) memberAddCommand() *cobra.Command {
	var f intent
	var m admin.NewMember
	cmd := &cobra.Command{
		Use: "add GROUP ID", Short: "Add a member to a group of the document",
		Long: `Writes a member at the end of its group's members in the cluster document, leaves the rest of the text as it
is, and applies that: so it is for good, stands in config history, and config rollback undoes it. It is applied only if nobody
has changed the document meanwhile.`,
		Example: "  tandem member add carrier-a gw-3 --site dallas --to 203.0.113.12:5060 --weight 2 --reason 'second card'",
		Args:    arguments("GROUP", "an ID"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if (m.Address == "") == (m.FQDN == "") {
				return usage("for example --to 203.0.113.12:5060, or --fqdn gw.carrier.example", "a member has an address or a name")
			}
			m.ID, m.Author, m.Reason = args[1], cmp.Or(f.author, whoami()), f.reason
			var done admin.Applied
			if err := c.post(cmd, "/v1/members/"+url.PathEscape(args[0]), m, &done); err != nil {
				return err
			}
			return c.printApplied(&done)
		}),
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&m.Site, "site", "", "its site")
	flags.StringVar(&m.Address, "to", "", "its address, ip:port")
	flags.StringVar(&m.FQDN, "fqdn", "", "its name, or name:port")
	flags.StringVar(&m.Transport, "transport", "", "udp, tcp or tls; udp unless given")
	flags.StringVar(&m.ServerName, "server-name", "", "tls: the name in its certificate")
	flags.IntVar(&m.Weight, "weight", 0, "its weight; 1 unless given")
	flags.IntVar(&m.Priority, "priority", 0, "lower comes first")
	flags.IntVar(&m.Calls, "calls", 0, "the most calls at one time")
	flags.IntVar(&m.CPS, "cps", 0, "the most calls per second")
	flags.BoolVar(&m.LastResort, "last-resort", false, "only when all others are out or have failed")
	flags.StringVar(&m.Direction, "direction", "", "both, in or out; both unless given")
	flags.BoolVar(&m.DryRun, "dry-run", false, "only check")
	return cmd
}

func (c *cli) memberRemoveCommand() *cobra.Command {
	var f intent
	var o admin.MemberRemoval
	cmd := &cobra.Command{
		Use: "remove GROUP/ID", Short: "Remove a member from the document",
		Long: `Takes a member out of the cluster document, leaves the rest of the text as it is, and applies that. Calls that
are up there go on. member set-state GROUP/ID draining takes it out for a time only.`,
		Example: "  tandem member remove carrier-a/gw-3 --reason 'contract has ended'",
		Args:    arguments("GROUP/ID"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			group, member, ok := strings.Cut(args[0], "/")
			if !ok || group == "" || member == "" {
				return usage("tandem member list shows them", "%q is not GROUP/ID", args[0])
			}
			o.Author, o.Reason = cmp.Or(f.author, whoami()), f.reason
			var done admin.Applied
			path := "/v1/members/" + url.PathEscape(group) + "/" + url.PathEscape(member) + "/remove"
			if err := c.post(cmd, path, o, &done); err != nil {
				return err
			}
			return c.printApplied(&done)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only check")
	return cmd
}
