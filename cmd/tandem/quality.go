package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) qualityCommand() *cobra.Command {
	return group("quality", "What calls came to", c.qualityListCommand())
}

func (c *cli) qualityListCommand() *cobra.Command {
	var by, window string
	cmd := &cobra.Command{
		Use: "list", Short: "Show ASR, NER, ACD and PDD by carrier, trunk group, site and destination", Args: arguments(),
		Long: `Shows what calls over the whole cluster came to within a window: ATTEMPTS that were dialled and not given up by
the caller, how many of them were answered (ASR) and how many reached the callee (NER), the mean length of answered calls that
ended (ACD) and the mean wait for the first ringing (PDD). Carriers of plans with carrier_quality follow, with what keeps one
out and until when.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			query := url.Values{"window": {window}}
			if by != "" {
				query.Set("scope", by)
			}
			var list admin.TrafficList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/traffic?" + query.Encode()}, &list); err != nil {
				return err
			}
			return c.print(list, func() *table { return trafficTable(&list) })
		}),
	}
	cmd.Flags().StringVar(&by, "by", "", "carrier, trunk_group, site or destination; default all")
	cmd.Flags().StringVar(&window, "window", "1h", "5m, 1h or 24h")
	return cmd
}

func trafficTable(list *admin.TrafficList) *table {
	t := &table{head: []string{"BY", "NAME", "ATTEMPTS", "ANSWERED", "ASR", "NER", "ACD", "PDD", "STATE"}}
	for _, r := range list.Rows {
		t.add(r.Scope, r.Name, strconv.FormatUint(r.Attempts, 10), strconv.FormatUint(r.Answered, 10),
			figure(r.ASR, "%.1f%%"), figure(r.NER, "%.1f%%"), figure(r.ACD, "%.0fs"), figure(r.PDD, "%.1fs"), "")
	}
	for _, r := range list.Carriers {
		state := "in use"
		if r.Barred != "" {
			state = fmt.Sprintf("out: %s, since %s until %s", r.Barred, r.Since, r.Until)
		}
		t.add("plan "+r.Plan, r.Carrier, strconv.FormatUint(r.Attempts, 10), strconv.FormatUint(r.Answered, 10), "", "", "", "", state)
	}
	return t
}

// figure writes a value that may not be there.
func figure(v *float64, format string) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf(format, *v)
}
