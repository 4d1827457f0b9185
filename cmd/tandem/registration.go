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
)

func (c *cli) registrationCommand() *cobra.Command {
	return group("registration", "PBXs that are registered", c.registrationListCommand(), c.registrationShowCommand(), c.registrationRemoveCommand())
}

// registrations asks for bindings.
func (c *cli) registrations(cmd *cobra.Command, aor, member string, limit int) (list admin.RegistrationList, err error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if aor != "" {
		q.Set("aor", aor)
	}
	if member != "" {
		q.Set("member", member)
	}
	err = c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/registrations?" + q.Encode()}, &list)
	return list, err
}

func (c *cli) registrationListCommand() *cobra.Command {
	var member string
	var limit int
	var refused bool
	cmd := &cobra.Command{
		Use: "list [AOR]", Short: "Show who is registered, where, and whether a call would get there",
		Long: `Shows the bindings of all nodes as the asked node knows them. REACH says which nodes can send to
one: any node of either site; the socket of its node, behind a NAT; or a connection of its node. STATE is ok
when a call could be sent there now, else why not and, where it is known, since when. CALLS OF is the site
whose calls it takes. With --refused it shows instead whose REGISTERs the asked node refused within a day,
why, from where, how often in a row and since when; each node knows only of its own.`,
		Example: "  tandem registration list --member acme-in/pbx\n  tandem registration list --refused --address unix:/run/tandem/admin.sock",
		Args:    cobra.MaximumNArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > 100_000 {
				return usage("write 1 to 100000", "--limit %d is out of bounds", limit)
			}
			list, err := c.registrations(cmd, strings.Join(args, ""), member, limit)
			if err != nil {
				return err
			}
			if list.Left > 0 {
				fmt.Fprintf(c.err, "note: %d more are left off; --limit shows more, an AOR or --member fewer\n", list.Left)
			}
			if refused {
				return c.print(append([]admin.Refused{}, list.Refused...), func() *table { return refusedTable(list.Refused) })
			}
			if len(list.Registrations) == 0 {
				fmt.Fprintln(c.err, "note: nobody is registered; "+refusals(&list))
			}
			return c.print(list, func() *table { return registrationTable(list.Registrations) })
		}),
	}
	cmd.Flags().StringVar(&member, "member", "", "only those of this GROUP/MEMBER")
	cmd.Flags().IntVar(&limit, "limit", 1000, "how many at most")
	cmd.Flags().BoolVar(&refused, "refused", false, "whose REGISTERs the asked node refused, and why")
	return cmd
}

func registrationTable(list []admin.Registration) *table {
	t := &table{head: []string{"AOR", "ID", "CONTACT", "SOURCE", "NODE", "CALLS OF", "REACH", "STATE", "SINCE", "EXPIRES", "AGENT"}}
	for i := range list {
		r := &list[i]
		t.add(r.AOR, r.ID, r.Contact, r.Transport+":"+r.Source, r.Node, r.CallsOf, r.Reach, registrationState(r),
			r.Since.UTC().Format(time.RFC3339), expiresIn(r), r.Agent)
	}
	return t
}

func refusedTable(list []admin.Refused) *table {
	t := &table{head: []string{"AOR", "MEMBER", "SOURCE", "TIMES", "SINCE", "LAST", "REASON"}}
	for _, r := range list {
		t.add(r.AOR, r.Member, r.Source, strconv.Itoa(r.Times), r.Since.UTC().Format(time.RFC3339), r.Last.UTC().Format(time.RFC3339), r.Why)
	}
	return t
}

// refusals says what the node refused, or where else to look.
func refusals(list *admin.RegistrationList) string {
	if len(list.Refused) == 0 {
		return list.Node + " has refused nothing of it within a day: does the PBX send to another node (--address), " +
			"is it banned (tandem ban list), or does it not answer challenges?"
	}
	r := list.Refused[0]
	often := "once"
	if r.Times > 1 {
		often = fmt.Sprintf("%d times since %s, last", r.Times, r.Since.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s refused %s from %s, %s at %s: %s", list.Node, r.AOR, r.Source, often, r.Last.UTC().Format(time.RFC3339), r.Why)
}

func registrationState(r *admin.Registration) string {
	switch {
	case r.Reachable:
		return "ok"
	case r.CauseSince != nil:
		return r.Cause + " since " + r.CauseSince.UTC().Format(time.RFC3339)
	}
	return r.Cause
}

func expiresIn(r *admin.Registration) string {
	return "in " + max(0, time.Until(r.Expires)).Round(time.Second).String()
}

func (c *cli) registrationShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show AOR [ID]", Short: "Show everything about the bindings of an address of record",
		Long: `Shows everything about the bindings of an address of record, or about the one with this ID, as list
writes it. When there is none, it says what the asked node refused last: a PBX that has a wrong password is
found so. Ask the node that the PBX sends to.`,
		Example: "  tandem registration show sip:acme@sip.example.net",
		Args:    cobra.RangeArgs(1, 2),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			list, err := c.registrations(cmd, args[0], "", 100_000)
			if err != nil {
				return err
			}
			found := []admin.Registration{}
			for _, r := range list.Registrations {
				if len(args) == 1 || r.ID == args[1] {
					found = append(found, r)
				}
			}
			switch {
			case len(list.Registrations) == 0:
				return fail(exitNotFound, refusals(&list), "nobody is registered as %s", args[0])
			case len(found) == 0:
				return fail(exitNotFound, "tandem registration list "+args[0]+" shows those that there are", "%s has no binding %s", args[0], args[1])
			case len(list.Refused) > 0:
				fmt.Fprintln(c.err, "note: "+refusals(&list))
			}
			return c.print(found, func() *table { return registrationDetails(found) })
		}),
	}
}

func registrationDetails(list []admin.Registration) *table {
	t := &table{head: []string{"FIELD", "VALUE"}}
	for i := range list {
		r := &list[i]
		sessions := "not reported"
		if r.Sessions != nil {
			sessions = strconv.Itoa(*r.Sessions)
		}
		for _, line := range [][2]string{
			{"address of record", r.AOR},
			{"id", r.ID},
			{"member", cmp.Or(r.Member, "none any more")},
			{"contact", r.Contact},
			{"path", strings.Join(r.Path, ", ")},
			{"source", r.Transport + ":" + r.Source},
			{"node", r.Node + " in " + r.Site},
			{"listener", r.Listener},
			{"reach", r.Reach},
			{"calls of", r.CallsOf},
			{"state", registrationState(r)},
			{"first registered", r.Since.UTC().Format(time.RFC3339)},
			{"last changed", r.Refreshed.UTC().Format(time.RFC3339)},
			{"expires", r.Expires.UTC().Format(time.RFC3339) + ", " + expiresIn(r)},
			{"q", strconv.FormatFloat(r.Q, 'f', -1, 64)},
			{"sessions", sessions},
			{"all numbers", strconv.FormatBool(r.Bulk)},
			{"user", r.User},
			{"instance", r.Instance},
			{"user agent", r.Agent},
		} {
			t.add(line[0], cmp.Or(line[1], "-"))
		}
	}
	return t
}

func (c *cli) registrationRemoveCommand() *cobra.Command {
	var f intent
	cmd := &cobra.Command{
		Use: "remove AOR [ID]", Short: "Forget bindings, on all nodes",
		Long: `Forgets one binding of an address of record, or all of them, on all nodes. Calls that are up stay up.
It is no ban: a PBX that still has its secret registers again, at its next refresh at the latest. To keep it
out, take its digest user or its member out of the document, or tandem ban add its address.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			o := admin.RegistrationRemoval{AOR: args[0], Author: cmp.Or(f.author, whoami()), Reason: f.reason}
			if len(args) == 2 {
				o.ID = args[1]
			}
			var list admin.RegistrationList
			if err := c.post(cmd, "/v1/registrations/remove", o, &list); err != nil {
				return err
			}
			fmt.Fprintln(c.err, "note: whoever still has the secret can register again")
			return c.print(list, func() *table { return registrationTable(list.Registrations) })
		}),
	}
	f.register(cmd)
	return cmd
}
