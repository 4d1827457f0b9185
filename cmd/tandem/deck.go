package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) deckCommand() *cobra.Command {
	return group("deck", "Rate decks: what calls cost, and what they are sold for",
		c.deckListCommand(), c.deckShowCommand(), c.deckQuoteCommand(), c.deckHistoryCommand(),
		c.deckImportCommand(), c.deckExportCommand(), c.deckRemoveCommand())
}

func (c *cli) deckListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Show the rate decks, and the plans that go by them", Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var l admin.DeckList
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/decks"}, &l); err != nil {
				return err
			}
			if err := c.print(l, func() *table { return deckTable(l.Decks) }); err != nil || c.output == "json" {
				return err
			}
			for _, u := range l.Uploads {
				fmt.Fprintf(c.err, "note: %s is being imported by %s since %s, %d of %d octets: %s\n", u.Deck, u.Author, u.Since.UTC().Format(time.RFC3339), u.Have, u.Octets, u.Reason)
			}
			for _, f := range l.Faults {
				fmt.Fprintf(c.err, "fault: plan %s: %s\n", f.Plan, f.Why)
			}
			return nil
		}),
	}
}

func deckTable(list []admin.DeckHead) *table {
	t := &table{head: []string{"DECK", "KIND", "ROWS", "CURRENCY", "EDITION", "AT", "AUTHOR", "PLANS", "REASON"}}
	for i := range list {
		d := &list[i]
		t.add(d.Name, d.Kind, strconv.FormatUint(d.Rows, 10), d.Currency, strconv.FormatUint(d.Edition, 10), d.At.UTC().Format(time.RFC3339),
			d.Author, strings.Join(d.Plans, ","), d.Reason)
	}
	return t
}

func (c *cli) deckShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show DECK", Short: "Show what is in a rate deck", Args: arguments("DECK"),
		Long: `Shows the carriers of a deck and their rows: those that say that the carrier takes no calls, those that are not
in effect yet, and those that are not any more. "deck export" writes all of it.`,
		RunE: action(func(cmd *cobra.Command, args []string) error {
			var d admin.DeckInfo
			query := url.Values{"name": {args[0]}}
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/decks/show?" + query.Encode()}, &d); err != nil {
				return err
			}
			err := c.print(d, func() *table {
				t := &table{head: []string{"CARRIER", "ROWS", "BLOCKED", "LATER", "OVER"}}
				for _, r := range d.Carriers {
					t.add(r.Carrier, strconv.Itoa(r.Rows), strconv.Itoa(r.Blocked), strconv.Itoa(r.Later), strconv.Itoa(r.Over))
				}
				return t
			})
			if err != nil || c.output == "json" {
				return err
			}
			fmt.Fprintf(c.err, "%s: %s, %d rows of %d prefixes, %s, edition %d by %s at %s: %s\n",
				d.Name, d.Kind, d.Rows, d.Prefixes, cmp.Or(d.Currency, "no currency"), d.Edition, d.Author, d.At.UTC().Format(time.RFC3339), d.Reason)
			for _, g := range d.Unknown {
				fmt.Fprintf(c.err, "fault: the document has no pstn-provider group %s: its rows are passed over\n", g)
			}
			return nil
		}),
	}
}

func (c *cli) deckQuoteCommand() *cobra.Command {
	var plan, name, at string
	cmd := &cobra.Command{
		Use: "quote NUMBER", Short: "Show what each carrier costs for a number, and why it is left out",
		Long: `Asks the node what its rate decks make of a number: by a route plan, with its price, margin and order, or by
one deck alone. Without --plan and --deck it is the plan that goes by decks, when there is one only.`,
		Example: "  tandem deck quote +12145550100\n  tandem deck quote +442079460000 --plan wholesale --at 2027-01-01T00:00:00Z",
		Args:    arguments("NUMBER"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			query := url.Values{"number": {args[0]}}
			for key, value := range map[string]string{"plan": plan, "deck": name} {
				if value != "" {
					query.Set(key, value)
				}
			}
			if at != "" {
				when, err := time.Parse(time.RFC3339, at)
				if err != nil {
					return usage("for example --at 2027-01-01T00:00:00Z", "%q is no time", at)
				}
				query.Set("at", when.UTC().Format(time.RFC3339))
			}
			var q admin.DeckQuote
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/decks/quote?" + query.Encode()}, &q); err != nil {
				return err
			}
			if err := c.print(q, func() *table { return quoteTable(&q) }); err != nil {
				return err
			}
			if c.output != "json" {
				c.noteQuote(&q)
			}
			if q.Why != "" {
				return fail(exitNotFound, quoteHint(q.Number), "%s: %s", q.Number, q.Why)
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&plan, "plan", "", "by the decks of this route plan")
	cmd.Flags().StringVar(&name, "deck", "", "by this deck alone")
	cmd.Flags().StringVar(&at, "at", "", "as of then (RFC 3339)")
	return cmd
}

func quoteTable(q *admin.DeckQuote) *table {
	t := &table{head: []string{"#", "CARRIER", "GROUP", "PREFIX", "RATE", "BILLED", "ASR", "MARGIN", "LEFT OUT"}}
	row := func(place string, p *admin.DeckPrice) {
		asr := ""
		if p.ASR != nil {
			asr = strconv.FormatFloat(*p.ASR, 'f', 0, 64) + "%"
		}
		t.add(place, p.Carrier, p.Group, p.Prefix, p.Rate, fmt.Sprintf("%d/%d", p.MinDuration, p.Increment), asr, p.Margin, p.LeftOut)
	}
	if q.Sold != nil {
		row("sold", q.Sold)
	}
	for i := range q.Carriers {
		place := "-"
		if i < q.Routes {
			place = strconv.Itoa(i + 1)
		}
		row(place, &q.Carriers[i])
	}
	return t
}

func (c *cli) noteQuote(q *admin.DeckQuote) {
	for i := range q.Carriers {
		for _, n := range q.Carriers[i].Next {
			fmt.Fprintf(c.err, "note: %s costs %s for %s from %s on\n", q.Carriers[i].Carrier, n.Rate, n.Prefix, n.From.UTC().Format(time.RFC3339))
		}
	}
	if q.Until != nil {
		fmt.Fprintf(c.err, "note: rows change at %s\n", q.Until.UTC().Format(time.RFC3339))
	}
}

func (c *cli) deckHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history", Short: "Show who changed the rate decks, when and why", Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var h admin.DeckHistory
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/decks/history"}, &h); err != nil {
				return err
			}
			return c.print(h, func() *table {
				t := &table{head: []string{"EDITION", "AT", "AUTHOR", "DECK", "WHAT", "ROWS", "REASON"}}
				for _, r := range h.Changes {
					what := "import"
					switch {
					case r.Removed:
						what = "removed"
					case r.Deck == "":
						what = "raised"
					}
					t.add(fmt.Sprintf("%d.%d", r.Generation, r.Edition), r.At.UTC().Format(time.RFC3339), r.Author, r.Deck, what, strconv.FormatUint(r.Rows, 10), r.Reason)
				}
				return t
			})
		}),
	}
}

func (c *cli) deckImportCommand() *cobra.Command {
	var f intent
	var carrier, inGroup, currency, only, key, expect string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "import DECK FILE", Short: "Take a rate deck, whole or not at all",
		Long: `Takes a rate deck (CSV) in the place of the one of that name. The first line names the columns: prefix,
carrier_id, group, rate, and more if you like; a list without carrier_id says what customers pay. All faults are
told with their lines, and then nothing is changed. All nodes change over in one step. FILE may be - for standard
input. docs/decks.md says more.`,
		Example: "  tandem deck import cost rates.csv --dry-run\n  tandem deck import cost a.csv --only-carrier a --group carrier-a --reason 'rates of December'",
		Args:    arguments("DECK", "FILE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if f.reason == "" && !dryRun {
				return usage("for example --reason 'rates of December'", "an import wants a --reason")
			}
			list, err := c.open(args[1])
			if err != nil {
				return err
			}
			defer list.Close()
			query := f.importQuery(dryRun, map[string]string{
				"carrier": carrier, "group": inGroup, "currency": currency, "only_carrier": only, "expect_edition": expect,
			})
			query.Set("name", args[0])
			var done admin.DeckApplied
			if err := c.sendList(cmd, "/v1/decks/import?"+query.Encode(), key, list, &done); err != nil {
				return err
			}
			return c.printDeck(&done)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&carrier, "carrier", "", "carrier of lines that name none")
	cmd.Flags().StringVar(&inGroup, "group", "", "trunk group of lines that name none")
	cmd.Flags().StringVar(&currency, "currency", "", "currency of lines that name none, like USD")
	cmd.Flags().StringVar(&only, "only-carrier", "", "replace the rows of this carrier alone")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check, and say what would change")
	cmd.Flags().StringVar(&expect, "expect-edition", "", "only when this edition is in force")
	cmd.Flags().StringVar(&key, "key", "", "the same key twice is one import")
	return cmd
}

// printDeck says what came of a change of rate decks.
func (c *cli) printDeck(done *admin.DeckApplied) error {
	if c.output == "json" {
		return c.print(done, nil)
	}
	what := outcome(done.Generation, done.Edition, done.Millis, done.DryRun, done.Unchanged)
	if _, err := fmt.Fprintf(c.out, "%s: deck %s has %d rows, %d before\n", what, done.Deck, done.Rows, done.Before); err != nil {
		return err
	}
	for _, n := range done.Notes {
		fmt.Fprintf(c.err, "note: %s\n", n)
	}
	return nil
}

func (c *cli) deckExportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "export DECK", Short: "Write a rate deck as a list that import takes", Args: arguments("DECK"),
		Long:    `Writes a rate deck of the asked node to standard output, as deck import reads it. It works without a leader too.`,
		Example: "  tandem deck export cost > cost.csv",
		RunE: action(func(cmd *cobra.Command, args []string) error {
			a, res, err := c.stream(cmd, http.MethodGet, "/v1/decks/export?"+url.Values{"name": {args[0]}}.Encode(), "", nil)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			if res.StatusCode >= 300 {
				body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
				return errors.Join(err, a.refused(res, body))
			}
			w := bufio.NewWriterSize(c.out, 64<<10)
			if _, err := io.Copy(w, res.Body); err != nil {
				return fail(exitUnavailable, "the node's log says why", "the list was cut off: %w", err)
			}
			if err := w.Flush(); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			return nil
		}),
	}
}

func (c *cli) deckRemoveCommand() *cobra.Command {
	var f intent
	var force bool
	var key string
	cmd := &cobra.Command{
		Use: "remove DECK", Short: "Take a rate deck out", Args: arguments("DECK"),
		Long:    `Takes a rate deck out on all nodes. One that a route plan goes by stays, unless --force says that its calls may get 503.`,
		Example: "  tandem deck remove old --reason 'nobody goes by it'",
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if f.reason == "" {
				return usage("for example --reason 'nobody goes by it'", "to remove a deck wants a --reason")
			}
			var done admin.DeckApplied
			r := admin.DeckRemoval{Name: args[0], Force: force, Author: cmp.Or(f.author, whoami()), Reason: f.reason, Key: key}
			if err := c.post(cmd, "/v1/decks/remove", r, &done); err != nil {
				return err
			}
			return c.printDeck(&done)
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "also when a route plan goes by it")
	cmd.Flags().StringVar(&key, "key", "", "the same key twice is one change")
	return cmd
}

// quoteHint says what to do about a number without a quote.
func quoteHint(number string) string {
	if !strings.HasPrefix(number, "+") {
		return "write the number with + and its country code, as +12145550100"
	}
	return "tandem deck list says which decks there are, tandem deck show what is in one"
}
