package main

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) probingCommand() *cobra.Command {
	return group("probing", "Probes of members", c.probingTurn(true), c.probingTurn(false))
}

func (c *cli) probingTurn(pause bool) *cobra.Command {
	var f intent
	var site string
	cmd := &cobra.Command{
		Use: "resume", Short: "Let the probes of a site go on",
		Long: "Takes a pause back before it ends by itself. Every member is probed within its interval.",
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if pause && f.reason == "" {
				return usage("for example --reason 'the firewall is replaced tonight'", "a pause of probes wants a --reason")
			}
			if site == "" {
				var list admin.KnobList
				if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/knobs"}, &list); err != nil {
					return err
				}
				site = list.Site
			}
			path := "/v1/sites/" + url.PathEscape(site) + "/probing"
			return c.turn(cmd, path, admin.ProbingOrder{Pause: pause, Author: cmp.Or(f.author, whoami()), Reason: f.reason})
		}),
	}
	if pause {
		cmd.Use, cmd.Short = "pause", "Stop the probes of a site: states stand still"
		cmd.Long = `Sends no more probes to the members of a site, from any of its nodes. Their states stay as they are: nobody goes
down, and nobody who is down comes back, but by an order of an operator. It ends after 24 hours unless it
is said again. Any node takes it. An alarm says that it is so.`
		cmd.Example = "  tandem probing pause --site dallas --reason 'the firewall is replaced tonight'"
	}
	f.register(cmd)
	cmd.Flags().StringVar(&site, "site", "", "the site; that of the asked node unless given")
	return cmd
}
