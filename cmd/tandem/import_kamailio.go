package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/importer"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *cli) importKamailioCommand() *cobra.Command {
	var f importFlags
	var roles, algorithms, params, names []string
	var exact bool
	cmd := &cobra.Command{
		Use: "kamailio FILE...", Short: "From Kamailio's dispatcher",
		Long: `Reads dispatcher.list, rows of the table dispatcher (CSV, TSV, or a dump with INSERT statements) and
kamailio.cfg, told apart by their content, and prints a cluster document and a report of what
everything became. Each set becomes a trunk group. Which algorithm a set has, and how far ends are
probed, stands in kamailio.cfg; without it --algorithm and --modparam say it.`,
		Example: "  tandem import kamailio dispatcher.list kamailio.cfg --site dallas --out cluster.yaml\n" +
			"  tandem import kamailio dispatcher.csv --algorithm 1=9 --algorithm 2=0 --role 2=origination-customer --modparam ds_ping_interval=30",
		Args: cobra.MinimumNArgs(1),
		RunE: action(func(_ *cobra.Command, args []string) error {
			o := importer.KamailioOptions{
				Target: f.target(), ExactHash: exact,
				Roles: map[int]trunkgroup.Role{}, Names: map[int]string{}, Algorithms: map[int]int{}, Params: map[string]string{},
			}
			if err := kamailioFlags(&o, roles, algorithms, params, names); err != nil {
				return err
			}
			in, err := c.inputs(args)
			if err != nil {
				return err
			}
			r, err := importer.Kamailio(in, o)
			return c.writeImport(&f, r, err)
		}),
	}
	f.register(cmd.Flags())
	flags := cmd.Flags()
	flags.StringArrayVar(&roles, "role", nil, "role of the groups, pstn-provider unless given; SET=ROLE for one set")
	flags.StringArrayVar(&algorithms, "algorithm", nil, "number of the algorithm, SET=NUMBER for one set")
	flags.StringArrayVar(&params, "modparam", nil, "NAME=VALUE: a parameter of the module, before that of kamailio.cfg")
	flags.StringArrayVar(&names, "name", nil, "SET=NAME: what the group of a set is called, set-SET unless given")
	flags.BoolVar(&exact, "exact-hash", false, "keep the places that Kamailio's hashes give to keys (method hash-mod)")
	return cmd
}

// kamailioFlags reads the flags that may be for one set.
func kamailioFlags(o *importer.KamailioOptions, roles, algorithms, params, names []string) error {
	forSet := func(text string, all func(string) error, one func(set int, value string) error) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return all(text)
		}
		set, err := strconv.Atoi(name)
		if err != nil {
			return err
		}
		return one(set, value)
	}
	for _, text := range roles {
		err := forSet(text, func(s string) (err error) { o.Role, err = roleOf(s); return err },
			func(set int, s string) (err error) { o.Roles[set], err = roleOf(s); return err })
		if err != nil {
			return usage("for example --role 2=origination-customer", "--role %q: %w", text, err)
		}
	}
	for _, text := range algorithms {
		err := forSet(text, func(s string) error {
			n, err := strconv.Atoi(s)
			o.Algorithm = &n
			return err
		}, func(set int, s string) (err error) { o.Algorithms[set], err = strconv.Atoi(s); return err })
		if err != nil {
			return usage("for example --algorithm 1=4", "--algorithm %q: %w", text, err)
		}
	}
	err := pairs("name", names, func(name, value string) error {
		set, err := strconv.Atoi(name)
		o.Names[set] = value
		return err
	})
	if err != nil {
		return err
	}
	return pairs("modparam", params, func(name, value string) error { o.Params[name] = value; return nil })
}
