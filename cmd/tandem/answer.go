package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

func (c *cli) answerCommand() *cobra.Command {
	var listen []string
	var behaviour string
	var reg registerFlags
	cmd := &cobra.Command{
		Use: "answer --listen ADDRESS", Short: "Be a simulated PBX or carrier",
		Long: `Answers calls by a script until it is interrupted, then prints what it saw. It is the other end for
trying out a cluster and for load runs. Behaviours:

  answer ring=1s after=3s hangup=20s     180, 200, then BYE
  instant                                180 and 200 at once
  busy | unavailable | 480 | 603         a final failure; after=TIME delays it
  blackhole | trying | ringing ring=6s   silence at three depths
  early ring=1s after=2s code=486        183 with SDP, then the final

With --register it is a PBX that registers: it has its calls from where it registers, at any node. The password
is one line of standard input.`,
		Example: "  tandem answer --listen 127.0.0.1:5070\n  tandem answer --listen tcp:127.0.0.1:5070 --behaviour 'busy after=2s'\n" +
			"  tandem answer --listen 127.0.0.1:5070 --register sip:acme@sip.example.net --node 192.0.2.10:5060 < password.txt",
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			cfg := sim.FarEndConfig{CalleeConfig: sim.CalleeConfig{Name: "answer", Role: sim.PBX}}
			for _, text := range listen {
				transport, addr, err := parseHop(text)
				if err != nil {
					return err
				}
				l := sim.Listen{Transport: transport, Addr: addr}
				if transport.String() == "tls" {
					if l.TLS, _, err = sim.NewCertificate(addr.Addr().String()); err != nil {
						return err
					}
				}
				cfg.Listen = append(cfg.Listen, l)
			}
			if len(listen) == 0 {
				return usage("for example --listen 127.0.0.1:5070", "--listen is needed")
			}
			var err error
			if cfg.Behaviour, err = sim.ParseBehaviour(behaviour); err != nil {
				return usage("tandem answer --help lists them", "%w", err)
			}
			if cfg.Register, err = reg.config(c); err != nil {
				return err
			}
			return c.answer(cmd.Context(), cfg)
		}),
	}
	cmd.Flags().StringSliceVar(&listen, "listen", nil, "address to answer at, [udp:|tcp:|tls:]ip:port")
	reg.add(cmd)
	cmd.Flags().StringVar(&behaviour, "behaviour", "answer ring=200ms after=800ms", "what it does with calls")
	return cmd
}

// answer runs a far end until the context ends.
func (c *cli) answer(ctx context.Context, cfg sim.FarEndConfig) error {
	far, err := sim.StartFarEnd(cfg)
	if err != nil {
		return err
	}
	for i := range cfg.Listen {
		fmt.Fprintf(c.err, "answering at %s\n", far.Addr(i))
	}
	<-ctx.Done()
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), unregisterPatience)
	far.Unregister(leave)
	cancel()
	account := far.Account()
	if err := far.Close(); err != nil {
		return err
	}
	return c.print(account, func() *table {
		t := &table{head: []string{"INVITES", "ANSWERED", "REJECTED", "BYES", "CANCELS", "OPTIONS", "UP", "FAULTS", "FINALS"}}
		finals := make([]string, 0, len(account.Finals))
		for _, code := range slices.Sorted(maps.Keys(account.Finals)) {
			finals = append(finals, fmt.Sprintf("%d:%d", code, account.Finals[code]))
		}
		cells := make([]string, 0, len(t.head))
		for _, n := range []int{account.Invites, account.Answered, account.Rejected, account.Byes + account.ByesSent, account.Cancels, account.Options, account.Up, account.FaultCount} {
			cells = append(cells, fmt.Sprint(n))
		}
		t.add(append(cells, strings.Join(finals, " "))...)
		return t
	})
}
