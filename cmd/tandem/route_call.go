package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// routeTestCommand places a test call.
func (c *cli) routeTestCommand() *cobra.Command {
	var q asked
	var o admin.TestOrder
	ring, hold := 3*time.Second, time.Second
	cmd := &cobra.Command{
		Use: "test [NUMBER|AOR]", Short: "Place a test call in the name of a trunk, and say what became of each attempt",
		Long: `The asked node calls itself in the name of a trunk, as explain identifies it, and lets the call go its
way: it is routed, dialled, limited and recorded like the trunk's own calls. It rings for a moment and
is given up; when somebody answers it is ended after the answer limit. Its record says test. Emergency
numbers are never tested, and a node makes one test call per second at most.`,
		Example: "  tandem route test --from 203.0.113.10:5060 --called +12145550100\n" +
			"  tandem route test +12025550100 --username acme --for 5s --answer-limit 2s --reason 'new carrier'",
		Args: cobra.MaximumNArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if err := q.complete(cmd, args); err != nil {
				return err
			}
			if ring < 0 || ring > 30*time.Second || hold < 0 || hold > 10*time.Second {
				return usage("for example --for 3s --answer-limit 1s", "--for is at most 30s, --answer-limit at most 10s")
			}
			o.Question, o.RingMillis, o.HoldMillis = q.Question, int(ring.Milliseconds()), int(hold.Milliseconds())
			o.Author = cmp.Or(o.Author, whoami())
			c.client.timeout = max(c.client.timeout, 90*time.Second)
			var t admin.TestCall
			if err := c.post(cmd, "/v1/route/test", &o, &t); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(t, nil)
			}
			return c.printTest(&t)
		}),
	}
	q.register(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&ring, "for", ring, "how long it may ring")
	flags.DurationVar(&hold, "answer-limit", hold, "how long it stays answered")
	flags.StringVar(&o.Author, "author", "", "who wants it; the user of the shell unless given")
	flags.StringVar(&o.Reason, "reason", "", "why")
	return cmd
}

// printTest prints the attempts, then the outcome.
func (c *cli) printTest(t *admin.TestCall) error {
	attempts := &table{head: []string{"ATTEMPT", "MEMBER", "SITE", "ADDRESS", "CODE", "MS", "CAUSE"}}
	for i, a := range t.Attempts {
		code, cause := fmt.Sprint(a.Code), a.Cause
		if !a.Dialled {
			code, cause = "not dialled", a.Cause
		}
		if a.Rang && cause == "" {
			cause = "rang"
		}
		attempts.add(fmt.Sprint(i+1), a.Group+"/"+a.Member, a.Site, a.Address, code, fmt.Sprint(a.Millis), cause)
	}
	if len(t.Attempts) == 0 {
		fmt.Fprintln(c.err, "note: there was nobody to dial; tandem route explain, asked the same, says why")
	} else if err := attempts.write(c.out); err != nil {
		return err
	}
	outcome := "the caller got"
	switch {
	case t.Answered:
		outcome = "answered:"
	case t.GivenUp && t.PDD > 0:
		outcome = "it rang and was given up:"
	case t.GivenUp:
		outcome = "nobody rang, and it was given up:"
	}
	fmt.Fprintf(c.out, "\n%s %d after %d ms", outcome, t.Code, t.Setup)
	if t.PDD > 0 {
		fmt.Fprintf(c.out, ", post-dial delay %d ms", t.PDD)
	}
	if t.HandedOff {
		fmt.Fprint(c.out, ", handed off")
	}
	fmt.Fprintf(c.out, " (%s from %s to %s, record %s)\n", t.Direction, t.Ingress, t.Called, t.CallID)
	return nil
}
