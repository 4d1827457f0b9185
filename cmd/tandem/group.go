package main

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) groupCommand() *cobra.Command {
	return group("group", "Trunk groups", c.groupHashCommand())
}

func (c *cli) groupHashCommand() *cobra.Command {
	var site string
	cmd := &cobra.Command{
		Use: "hash GROUP KEY...", Short: "Show who gets the calls of a key now",
		Long: `Shows for each key in which order the members of a group that distributes by hash are tried, as the asked node
would do it for a call now. A key is written as the group goes by it: a Call-ID, a URI of From or To, a user, an
address, a number, or the value of a header. The lowest SCORE of a priority is first; hash-mod draws none.`,
		Example: "  tandem group hash conference room-7 room-8",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage(cmd.UseLine(), "group hash wants a GROUP and a KEY")
			}
			return nil
		},
		RunE: action(func(cmd *cobra.Command, args []string) error {
			query := url.Values{"key": args[1:]}
			if site != "" {
				query.Set("site", site)
			}
			var a admin.HashAnswer
			path := "/v1/groups/" + url.PathEscape(args[0]) + "/hash?" + query.Encode()
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: path}, &a); err != nil {
				return err
			}
			return c.print(a, func() *table { return hashTable(&a) })
		}),
	}
	cmd.Flags().StringVar(&site, "site", "", "the site; that of the asked node unless given")
	return cmd
}

func hashTable(a *admin.HashAnswer) *table {
	t := &table{head: []string{"KEY", "TRY", "MEMBER", "ADDRESS", "SCORE", "NOT TRIED BECAUSE"}}
	for _, k := range a.Keys {
		for _, p := range k.Order {
			place, score := "", ""
			if p.Place > 0 {
				place = strconv.Itoa(p.Place)
			}
			if p.Score > 0 {
				score = strconv.FormatUint(p.Score, 16)
			}
			t.add(k.Key, place, p.Member, p.Address, score, p.Cause)
		}
	}
	return t
}
