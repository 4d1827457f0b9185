package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/internal/demo"
)

func (c *cli) demoCommand() *cobra.Command {
	var keep bool
	var rate float64
	cmd := &cobra.Command{
		Use: "demo", Short: "Two sites on this machine, and everything that can fail, failing",
		Long: `Starts two sites of two nodes and a witness as child processes on loopback addresses, simulated
carriers and PBXs with real SIP between them, and callers that never pause. Then PBXs, carriers,
a node and the link between the sites fail and heal, one after the other, in under 90 seconds.
Needs no root and leaves nothing behind. Exit code 1 means that a call was lost that should not
have been: not one that was up on the node that was killed, nor one that was ringing at a far end
when that died.`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if rate <= 0 {
				return usage("for example --rate 5", "--rate is calls per second, not %g", rate)
			}
			key, err := newKey()
			if err != nil {
				return err
			}
			err = demo.Run(cmd.Context(), demo.Config{Out: c.out, Keep: keep, Rate: rate, Key: []byte(key)})
			if err == nil || errors.Is(err, demo.ErrLost) {
				return err
			}
			return unstarted(err)
		}),
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave it up at the end, and say how to call it")
	cmd.Flags().Float64Var(&rate, "rate", 5, "calls per second of each of the four callers")
	return cmd
}
