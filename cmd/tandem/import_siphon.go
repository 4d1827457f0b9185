package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/importer"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *cli) importSiphonCommand() *cobra.Command {
	var f importFlags
	var roles []string
	var realm string
	cmd := &cobra.Command{
		Use: "siphon FILE...", Short: "From Siphon's gateways",
		Long: `Reads siphon.yaml and prints a cluster document and a report of what everything became. Each gateway
group becomes a trunk group; of lcr, numbering and number_policies what concerns them is taken over.
Scripts are not read.`,
		Example: "  tandem import siphon siphon.yaml --site dallas --out cluster.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: action(func(_ *cobra.Command, args []string) error {
			o := importer.SiphonOptions{Target: f.target(), Realm: realm, Roles: map[string]trunkgroup.Role{}}
			for _, text := range roles {
				group, name, one := strings.Cut(text, "=")
				if !one {
					name = text
				}
				role, err := roleOf(name)
				if err != nil {
					return usage("for example --role pbx=origination-customer", "--role %q: %w", text, err)
				}
				if one {
					o.Roles[group] = role
				} else {
					o.Role = role
				}
			}
			in, err := c.inputs(args)
			if err != nil {
				return err
			}
			r, err := importer.Siphon(in, o)
			return c.writeImport(&f, r, err)
		}),
	}
	f.register(cmd.Flags())
	cmd.Flags().StringArrayVar(&roles, "role", nil, "role of the groups, pstn-provider unless given; GROUP=ROLE for one group")
	cmd.Flags().StringVar(&realm, "realm", "", "realm of the carriers' challenges, for destinations with auth")
	return cmd
}
