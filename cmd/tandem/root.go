package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// console is what a command may touch of the world around it.
type console struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
}

// cli holds what all commands share.
type cli struct {
	console
	output string // table, json
	client clientFlags
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, con console) int {
	c := &cli{console: con}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(con.in)
	root.SetOut(con.out)
	root.SetErr(con.err)
	cmd, err := root.ExecuteContextC(ctx)
	return report(con.err, err, cmd.CommandPath()+" --help")
}

func (c *cli) root() *cobra.Command {
	root := group("tandem", "A SIP session border controller cluster for trunking, in two sites or more",
		c.serverCommand(), c.demoCommand(), c.loadCommand(), c.answerCommand(),
		c.configCommand(), c.memberCommand(), c.groupCommand(), c.numberCommand(), c.deckCommand(), c.registrationCommand(), c.limitCommand(), c.fraudCommand(), c.chargingCommand(), c.qualityCommand(), c.accountCommand(), c.siteCommand(), c.importCommand(), c.banCommand(), c.knobCommand(), c.auditCommand(), c.probingCommand(), c.nodeCommand(), c.callCommand(), c.cdrCommand(), c.explainCommand(), c.routeCommand(), c.lcrCommand(), c.policyCommand(), c.contextCommand(),
		c.credentialCommand(), c.clusterCommand(), c.versionCommand(), c.manCommand())
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = version
	root.CompletionOptions.HiddenDefaultCmd = false
	flags := root.PersistentFlags()
	flags.StringVarP(&c.output, "output", "o", "table", "table or json")
	c.client.register(flags)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return c.knownOutput(cmd) }
	return root
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs, SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := cmd.CommandPath() + " --help"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				like := func(a, b string) int { return commonPrefix(args[0], a) - commonPrefix(args[0], b) }
				hint = "did you mean " + cmd.CommandPath() + " " + slices.MaxFunc(near, like) + "?"
			}
			return usage(hint, "%s has no command %q", cmd.CommandPath(), args[0])
		},
	}
	g.AddCommand(subs...)
	return g
}

// commonPrefix is how many bytes two words begin with in common.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// arguments says how many arguments a command wants, in its own words.
func arguments(words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == len(words):
			return nil
		case len(words) == 0:
			return usage(cmd.UseLine(), "%s takes no argument such as %q", cmd.CommandPath(), args[0])
		}
		return usage(cmd.UseLine(), "%s wants %s, and got %s", cmd.CommandPath(), strings.Join(words, " and "), count(len(args), "argument"))
	}
}

// action wraps what a command does: an error that is not classified yet is a failed operation, so that
// everything that cobra itself returns is known to be about the command line.
func action(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := fn(cmd, args)
		if _, classified := errors.AsType[*failure](err); err == nil || classified {
			return err
		}
		return &failure{code: exitFailed, err: err}
	}
}
