package main

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) callCommand() *cobra.Command {
	limit := 100
	list := &cobra.Command{
		Use: "list", Short: "Show the calls of one node",
		Long: "Shows the calls that the asked node owns. TO is the member that has the call, or was tried last; SITE is where that member is.",
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var calls admin.CallList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/calls?limit=" + strconv.Itoa(limit)}, &calls); err != nil {
				return err
			}
			if n := len(calls.Calls); n < calls.Active {
				fmt.Fprintf(c.err, "note: %d of %d calls\n", n, calls.Active)
			}
			return c.print(calls, func() *table {
				t := &table{head: []string{"CALL", "DIRECTION", "FROM", "TO", "SITE", "STATE", "ATTEMPTS", "START"}}
				for _, k := range calls.Calls {
					to := k.Egress
					if k.Member != "" {
						to = k.Egress + "/" + k.Member
					}
					t.add(k.ID, k.Direction, k.Ingress, to, k.Site, k.State, strconv.Itoa(k.Attempts), k.Start.UTC().Format(time.RFC3339))
				}
				return t
			})
		}),
	}
	list.Flags().IntVar(&limit, "limit", limit, "calls to list at most")
	return group("call", "Calls that are up", list)
}
