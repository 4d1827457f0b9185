package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) accountCommand() *cobra.Command {
	return group("account", "Our accounts and registrations at carriers", c.accountListCommand())
}

func (c *cli) accountListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list [MEMBER...]", Short: "Show the registrations at carriers, their states, since when and why",
		Long: `Shows the accounts of the members named, or of all, as any node of the cluster can tell. NODE is the one that
keeps the registration: one of the member's site, or of a peer site while that has none. CONTACT is where the
carrier sends calls to. A registration that failed is tried again at NEXT; REASON says what to change.`,
		RunE: action(func(cmd *cobra.Command, members []string) error {
			var list admin.AccountList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/accounts"}, &list); err != nil {
				return err
			}
			lines := []admin.Account{}
			for _, a := range list.Accounts {
				if len(members) == 0 || slices.Contains(members, a.Member) {
					lines = append(lines, a)
				}
			}
			if len(lines) == 0 && len(members) > 0 {
				return fail(exitNotFound, "tandem account list shows all", "no account of %s", strings.Join(members, ", "))
			}
			return c.print(lines, func() *table { return accountTable(lines) })
		}),
	}
}

func accountTable(lines []admin.Account) *table {
	t := &table{head: []string{"MEMBER", "SITE", "AOR", "STATE", "SINCE", "NODE", "REGISTRAR", "CONTACT", "UNTIL", "NEXT", "REASON"}}
	for _, a := range lines {
		t.add(a.Member, a.Site, a.AOR, a.State, moment(a.Since), a.Node, a.Registrar, a.Contact, moment(a.Until), moment(a.Next), a.Reason)
	}
	return t
}
