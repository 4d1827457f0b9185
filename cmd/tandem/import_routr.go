package main

import (
	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/importer"
)

func (c *cli) importRoutrCommand() *cobra.Command {
	var f importFlags
	var trunkRealms []string
	o := importer.RoutrOptions{TrunkRealms: map[string]string{}}
	cmd := &cobra.Command{
		Use: "routr FILE...", Short: "From Routr's resources",
		Long: `Reads resources of Routr 2 (Agents, Domains, Numbers, Trunks, Peers, Credentials and AccessControlLists,
one or several in each document of each file) and prints a cluster document and a report of what
everything became. Passwords become hashes for the realm of the agent's domain, for --realm, or
for the trunk's; the document never has a password.`,
		Example: "  tandem import routr resources/*.yaml --site dallas --realm sip.example.net --out cluster.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: action(func(_ *cobra.Command, args []string) error {
			o.Target = f.target()
			if err := pairs("trunk-realm", trunkRealms, func(ref, realm string) error { o.TrunkRealms[ref] = realm; return nil }); err != nil {
				return err
			}
			in, err := c.inputs(args)
			if err != nil {
				return err
			}
			r, err := importer.Routr(in, o)
			return c.writeImport(&f, r, err)
		}),
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&o.Realm, "realm", "", "realm of Peers, and host of their addresses that have the scheme backend:")
	cmd.Flags().StringArrayVar(&trunkRealms, "trunk-realm", nil, "REF=REALM: realm of a carrier's challenge; the trunk's host unless given")
	return cmd
}
