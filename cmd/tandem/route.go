package main

import "github.com/spf13/cobra"

// routeCommand holds what is about the way of calls.
func (c *cli) routeCommand() *cobra.Command {
	return group("route", "Where calls go", c.explainCommand(), c.routeTestCommand())
}
