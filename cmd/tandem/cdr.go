package main

import "github.com/spf13/cobra"

func (c *cli) cdrCommand() *cobra.Command {
	return group("cdr", "Call records", c.cdrSearchCommand(), c.cdrShowCommand(), c.cdrSinksCommand())
}
