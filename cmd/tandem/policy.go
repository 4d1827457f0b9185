package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

// policyCommand holds what is about the rules of route plans.
func (c *cli) policyCommand() *cobra.Command {
	return group("policy", "Rules of route plans", c.policyTestCommand())
}

// policyTrial are the flags of a made-up call.
type policyTrial struct {
	call     policy.Call
	at       string
	code     int
	attempts []string
}

func (c *cli) policyTestCommand() *cobra.Command {
	var q policyTrial
	cmd := &cobra.Command{
		Use: "test FILE PLAN ANSWER", Short: "Evaluate the rules of a plan on an answer of the decision server",
		Long: `Reads a cluster document and an answer of the decision server (JSON), and says what the rules of a
plan make of it, without a node and without a call: which routes stay and in which order they would be
tried, what the record would get if the first of them answered, and, with --final, which rule holds when all
of them have failed. FILE or ANSWER may be - for standard input.`,
		Example: "  tandem policy test cluster.yaml domestic answer.json --called +12145550100\n" +
			"  tandem policy test cluster.yaml domestic answer.json --final 503 --attempt carrier-a=503 --attempt carrier-b=undialled",
		Args: arguments("FILE", "PLAN", "ANSWER"),
		RunE: action(func(_ *cobra.Command, args []string) error { return c.testPolicy(&q, args[0], args[1], args[2]) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&q.call.Called, "called", "+12145550100", "called number, E.164")
	flags.StringVar(&q.call.Caller, "caller", "", "caller's number")
	flags.StringVar(&q.call.Group, "group", "", "the customer's trunk group; unless given the first that has the plan")
	flags.StringVar(&q.call.Source, "source-ip", "", "where the call comes from")
	flags.StringVar(&q.call.User, "user", "", "digest user")
	flags.StringVar(&q.call.Site, "site", "", "site where it enters; unless given the first of the document")
	flags.StringVar(&q.call.Decided, "route-source", trunkgroup.RoutesLive, "lcr, cache, fallback or deck")
	flags.StringVar(&q.at, "at", "", "when, like 2026-03-01T09:00:00Z; now unless given")
	flags.IntVar(&q.code, "final", 0, "what the caller would get when all routes have failed")
	flags.StringArrayVar(&q.attempts, "attempt", nil, "a failed attempt, CARRIER=STATUS or CARRIER=undialled; more than once")
	return cmd
}

func (c *cli) testPolicy(q *policyTrial, file, name, answer string) error {
	doc, _, err := c.readDocument(file)
	if err != nil {
		return err
	}
	table, err := trunkgroup.Compile(doc, trunkgroup.Version{Cluster: doc.Cluster})
	if err != nil {
		return err
	}
	plan, err := q.plan(table, name)
	if err != nil {
		return err
	}
	text, err := c.read(answer)
	if err != nil {
		return err
	}
	said, err := lcr.Parse(text)
	if err != nil {
		return fail(exitFailed, "see docs/lcr.md for what an answer looks like", "%s: %w", answer, err)
	}
	for _, note := range said.Notes {
		fmt.Fprintf(c.err, "note: %s\n", strings.TrimSpace(note.Carrier+" "+note.Text))
	}
	attempts, err := q.failed()
	if err != nil {
		return err
	}
	var failure *policy.Failure
	if q.code != 0 {
		failure = &policy.Failure{Code: q.code, Cause: "VENDOR_" + strconv.Itoa(q.code)}
		for i := range attempts {
			if attempts[i].Dialed {
				failure.Dialed++
			}
		}
	}
	trial := plan.Policy.Try(q.call, &said.Set, failure, attempts)
	if c.output == "json" {
		return c.print(trial, nil)
	}
	return c.printTrial(&trial)
}

// plan finds the plan and completes the call with what follows from it.
func (q *policyTrial) plan(t *trunkgroup.Table, name string) (*trunkgroup.RoutePlan, error) {
	var plan *trunkgroup.RoutePlan
	var names []string
	for _, p := range t.RoutePlans() {
		names = append(names, p.Name)
		if p.Name == name {
			plan = p
		}
	}
	switch {
	case plan == nil:
		return nil, fail(exitNotFound, trunkgroup.Suggest(name, names), "there is no route plan %q", name)
	case plan.Policy == nil:
		return nil, fail(exitFailed, "write policy into the plan", "route plan %q has no rules", name)
	}
	q.call.Plan, q.call.CalledRaw = name, q.call.Called
	for _, g := range t.Document().TrunkGroups {
		if q.call.Group == "" && g.RoutePlan == name {
			q.call.Group, q.call.Customer = g.Name, g.Customer
		}
	}
	if q.call.Site == "" {
		q.call.Site = t.Sites()[0]
	}
	at := time.Now()
	if q.at != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, q.at); err != nil {
			return nil, usage("for example --at 2026-03-01T09:00:00Z", "--at wants a time, not %q", q.at)
		}
	}
	q.call.SetTime(at)
	return plan, nil
}

// failed reads the attempts.
func (q *policyTrial) failed() ([]policy.Attempt, error) {
	var list []policy.Attempt
	for _, text := range q.attempts {
		carrier, status, _ := strings.Cut(text, "=")
		a := policy.Attempt{CarrierID: carrier, Status: 503}
		if status != "undialled" {
			code, err := strconv.Atoi(status)
			if err != nil || code < 300 || code > 699 {
				return nil, usage("for example --attempt carrier-a=503", "--attempt wants CARRIER=STATUS or CARRIER=undialled, not %q", text)
			}
			a.Status, a.Dialed = code, true
		}
		list = append(list, a)
	}
	return list, nil
}

func (c *cli) printTrial(t *trunkgroup.PolicyTrial) error {
	list := &table{head: []string{"ROUTE", "CARRIER", "TRIED", "ORDER-KEY"}}
	for i, r := range t.Routes {
		tried, key := "left out by keep", ""
		if r.Kept {
			tried = strconv.Itoa(r.Place)
		}
		if r.Key != nil {
			key = strconv.FormatFloat(*r.Key, 'g', -1, 64)
		}
		list.add(strconv.Itoa(i+1), r.Carrier, tried, key)
	}
	if err := list.write(c.out); err != nil {
		return err
	}
	for _, f := range t.Fields {
		fmt.Fprintf(c.out, "record, when %s answers: %s = %q\n", printable(t.Answer), f.Name, f.Value)
	}
	if f := t.Failed; f != nil {
		rule := "no rule holds"
		if f.Rule > 0 {
			rule = fmt.Sprintf("on_failure[%d] holds", f.Rule-1)
		}
		fmt.Fprintf(c.out, "failure %d: %s: %s\n", f.Code, rule, f.Does)
	}
	for _, fault := range t.Faults {
		fmt.Fprintf(c.out, "%s\n", fault)
	}
	return nil
}
