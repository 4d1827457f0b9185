package main

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *cli) explainCommand() *cobra.Command {
	var from, transport, local, site, username, realm, affinity string
	cmd := &cobra.Command{
		Use: "explain NUMBER|AOR", Short: "Say what would be decided for a call, and why",
		Long: `Says who a caller would be, which group the call goes to, and in which order its members would be
tried, by the same functions that decide calls, with what the asked node knows now. No call is
placed. A customer may also reach one of its own registered PBXs by its address of record.`,
		Example: "  tandem explain +12145550100 --from 203.0.113.10:5060\n  tandem explain 0114420555501 --username acme --realm sip.example.net --site ashburn\n  tandem explain sip:conference@sip.local --username rooms",
		Args:    arguments("NUMBER|AOR"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if from == "" && username == "" {
				return usage("for example --from 203.0.113.10:5060", "--from or --username is needed")
			}
			if _, err := trunkgroup.ParseTransport(transport); err != nil {
				return usage("write --transport udp, tcp, tls, ws or wss", "%w", err)
			}
			for flag, text := range map[string]string{"from": from, "local": local} {
				if _, err := netip.ParseAddrPort(text); err != nil && text != "" {
					return usage("for example --"+flag+" 203.0.113.10:5060", "--%s wants ip:port, not %q", flag, text)
				}
			}
			query := url.Values{"called": {args[0]}, "transport": {transport}}
			for key, value := range map[string]string{"source": from, "local": local, "site": site, "username": username, "realm": realm, "affinity": affinity} {
				if value != "" {
					query.Set(key, value)
				}
			}
			var e admin.Explanation
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/explain?" + query.Encode()}, &e); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(e, nil)
			}
			return c.printExplanation(&e)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "where the call comes from, ip:port")
	flags.StringVar(&transport, "transport", "udp", "udp, tcp, tls, ws or wss")
	flags.StringVar(&local, "local", "", "address of ours that receives it, ip:port")
	flags.StringVar(&site, "site", "", "site where it enters; the asked node's unless given")
	flags.StringVar(&username, "username", "", "digest user, taken as proven")
	flags.StringVar(&realm, "realm", "", "realm of the user; unless given the AOR's host where that is a realm, else sip.realm of the asked node")
	flags.StringVar(&affinity, "affinity", "", "value of the header by which the group keeps calls together")
	return cmd
}

// bindingCauses are those of registered far ends.
var bindingCauses = []string{trunkgroup.CauseUnregistered, trunkgroup.CauseNodeDown, trunkgroup.CauseFlowGone, trunkgroup.CauseUserGone}

// printExplanation prints the steps, then the try-order.
func (c *cli) printExplanation(e *admin.Explanation) error {
	steps := &table{head: []string{"STEP", "DECISION"}}
	for _, s := range e.Steps {
		steps.add(s.Name, s.Text)
	}
	if e.Code != 0 {
		steps.add("answer", fmt.Sprintf("%d to the caller", e.Code))
	}
	if err := steps.write(c.out); err != nil || len(e.Order) == 0 {
		return err
	}
	order := &table{head: []string{"TRY", "MEMBER", "SITE", "ADDRESS", "STATE", "NOT TRIED BECAUSE"}}
	counted := slices.ContainsFunc(e.Order, func(o trunkgroup.OrderLine) bool { return o.Sessions != nil })
	if counted {
		order.head = append(order.head, "CALLS")
	}
	n := 0
	for _, o := range e.Order {
		try := ""
		if o.Dialable {
			n++
			try = fmt.Sprint(n)
		}
		because := o.Cause
		if o.Cause == o.State && o.Why != "" {
			because = o.Why // the state stands beside it
		} else if slices.Contains(bindingCauses, o.Cause) && o.Why != "" {
			because = o.Why // it says the cause, and more
		}
		row := []string{try, o.Group + "/" + o.Member, o.Site, strings.TrimSpace(o.Contact + " " + o.Addr), o.State, because}
		if counted {
			row = append(row, callsOf(&o))
		}
		order.add(row...)
	}
	fmt.Fprintln(c.out)
	if err := order.write(c.out); err != nil {
		return err
	}
	for _, o := range e.Order {
		if o.Cause == trunkgroup.CauseUnregistered && o.Why == "" {
			fmt.Fprintf(c.err, "note: tandem registration list --member %s/%s says whether a node refuses it, and why\n", o.Group, o.Member)
		}
	}
	return nil
}

// callsOf are the calls of a far end that the distribution goes by.
func callsOf(o *trunkgroup.OrderLine) string {
	switch {
	case o.Sessions == nil:
		return ""
	case *o.Sessions < 0:
		return "not reported"
	}
	return strconv.Itoa(*o.Sessions)
}
