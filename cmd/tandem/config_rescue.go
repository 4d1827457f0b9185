package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/internal/app"
	"github.com/tandem-sbc/tandem/internal/config"
)

func (c *cli) configRescueCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "rescue --config FILE", Short: "Print the document on the disk of a node that does not run",
		Long: `Reads the last known good document from the data directory that a node file names, with the key file
that it names, and prints it. It asks no node and changes nothing. The version goes to standard error.`,
		Example: "  tandem config rescue --config /etc/tandem/node.yaml > document.yaml",
		Args:    arguments(),
		RunE: action(func(*cobra.Command, []string) error {
			cfg, err := config.Load(file)
			if err != nil {
				return unstarted(err)
			}
			d, err := app.Rescue(cfg)
			if errors.Is(err, app.ErrNoDocument) {
				return fail(exitNotFound, "look at data_dir of the node file; another node's disk may have one", "%s holds no document", cfg.DataDir)
			}
			if err != nil {
				return fail(exitFailed, "", "%w", err)
			}
			if c.output == "json" {
				return c.print(d, nil)
			}
			fmt.Fprintf(c.err, "revision %d.%d of cluster %s, by %q at %s\n", d.Generation, d.Revision, d.Cluster, d.Author, d.At.Format("2006-01-02T15:04:05Z"))
			_, err = c.out.Write([]byte(d.Document))
			return err
		}),
	}
	cmd.Flags().StringVarP(&file, "config", "c", "/etc/tandem/node.yaml", "the node file")
	return cmd
}
