package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) numberCommand() *cobra.Command {
	return group("number", "Called numbers in bulk, beside the document",
		c.numberShowCommand(), c.numberListCommand(), c.numberStatusCommand(), c.numberHistoryCommand(),
		c.numberAddCommand(), c.numberRemoveCommand(), c.numberImportCommand(), c.numberExportCommand())
}

func (c *cli) numberShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show NUMBER", Short: "Show who owns a called number, and by what",
		Long: `Asks the table that the node routes calls by: which group owns the number, by which pattern, whether
that stands in the document or in the number table, and what else covers the number.`,
		Example: "  tandem number show +12145550100",
		Args:    arguments("NUMBER"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			var o admin.NumberOwner
			query := url.Values{"number": {args[0]}}
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/numbers/owner?" + query.Encode()}, &o); err != nil {
				return err
			}
			if err := c.print(o, func() *table { return ownerTable(&o) }); err != nil {
				return err
			}
			if o.Group == "" {
				return fail(exitNotFound, "tandem number add gives it to a group", "nobody owns %s", o.Number)
			}
			return nil
		}),
	}
}

func ownerTable(o *admin.NumberOwner) *table {
	t := &table{head: []string{"NUMBER", "GROUP", "BY", "WHERE", "DECIDES"}}
	if o.Group != "" {
		where := "document"
		if o.InTable {
			where = "number table"
		}
		t.add(o.Number, o.Group, o.By, where, "yes")
	}
	for _, other := range o.Others {
		t.add(o.Number, other.Group, other.Pattern, "", "no")
	}
	return t
}

func (c *cli) numberListCommand() *cobra.Command {
	var inGroup, after string
	var limit int
	cmd := &cobra.Command{
		Use: "list", Short: "Show a page of the number table", Args: arguments(),
		Long: `Shows patterns of the number table in order: exact numbers, then blocks, then ranges. When there are
more, the last line says how to go on. "number export" writes all of it.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var page admin.NumberPage
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			if inGroup != "" {
				query.Set("group", inGroup)
			}
			if after != "" {
				query.Set("after", after)
			}
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/numbers/list?" + query.Encode()}, &page); err != nil {
				return err
			}
			err := c.print(page, func() *table {
				t := &table{head: []string{"NUMBER", "GROUP"}}
				for _, r := range page.Numbers {
					t.add(r.Pattern, r.Group)
				}
				return t
			})
			if err == nil && page.Next != "" && c.output != "json" {
				_, err = fmt.Fprintf(c.err, "there is more: --after '%s'\n", page.Next)
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&inGroup, "group", "", "only of this group")
	cmd.Flags().StringVar(&after, "after", "", "begin behind this pattern")
	cmd.Flags().IntVar(&limit, "limit", 100, "how many, 10000 at most")
	return cmd
}

func (c *cli) numberStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show edition, size and groups of the number table", Args: arguments(),
		Long: `Shows what the asked node routes by: the edition, which rises with each change, how many patterns each
group has, and imports that are under way. Nodes with equal tables show equal checksums.`,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var s admin.NumberSummary
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/numbers"}, &s); err != nil {
				return err
			}
			return c.print(s, func() *table { return summaryTable(&s) })
		}),
	}
}

func summaryTable(s *admin.NumberSummary) *table {
	t := &table{head: []string{"WHAT", "VALUE"}}
	t.add("edition", fmt.Sprintf("%d.%d, from %s", s.Generation, s.Edition, s.Source))
	if s.Since != nil {
		t.add("since", s.Since.UTC().Format(time.RFC3339))
	}
	t.add("patterns", strconv.Itoa(s.Numbers))
	t.add("checksum", s.Checksum)
	for _, g := range slices.Sorted(maps.Keys(s.Groups)) {
		note := ""
		if s.Orphans[g] > 0 {
			note = ", own nothing: the document has no origination-customer group of that name"
		}
		t.add("group "+g, strconv.Itoa(s.Groups[g])+note)
	}
	for _, i := range s.Imports {
		t.add("import of "+i.Author, fmt.Sprintf("since %s, %d set, %d removed so far: %s", i.Since.UTC().Format(time.RFC3339), i.Set, i.Gone, i.Reason))
	}
	return t
}

func (c *cli) numberHistoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history", Short: "Show who changed the number table, when and why", Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var h admin.NumberHistory
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/numbers/history"}, &h); err != nil {
				return err
			}
			return c.print(h, func() *table {
				t := &table{head: []string{"EDITION", "AT", "AUTHOR", "WHAT", "SET", "REMOVED", "NUMBERS", "REASON"}}
				for _, r := range h.Changes {
					what := "change"
					if r.Import {
						what = "import"
					}
					n := func(v uint64) string { return strconv.FormatUint(v, 10) }
					t.add(fmt.Sprintf("%d.%d", r.Generation, r.Edition), r.At.UTC().Format(time.RFC3339), r.Author, what, n(r.Set), n(r.Removed), n(r.Numbers), r.Reason)
				}
				return t
			})
		}),
	}
}

func (c *cli) numberAddCommand() *cobra.Command {
	return c.numberChangeCommand(&cobra.Command{
		Use: "add NUMBER GROUP", Short: "Give a number, block or range to a group",
		Long: `Adds a pattern to the number table, or moves it to another group: on all nodes, without a revision of the
document, and without touching other numbers.`,
		Example: "  tandem number add +12145550100 acme-in --reason 'order 12'\n  tandem number add '+1469555*' acme-in --reason 'block'",
		Args:    arguments("NUMBER", "GROUP"),
	}, func(args []string) admin.NumberRow { return admin.NumberRow{Pattern: args[0], Group: args[1]} })
}

func (c *cli) numberRemoveCommand() *cobra.Command {
	return c.numberChangeCommand(&cobra.Command{
		Use: "remove NUMBER", Short: "Take a pattern out of the number table",
		Long:    `Takes out exactly this pattern, as "number list" writes it. What the document says stays.`,
		Example: "  tandem number remove +12145550100 --reason 'ported out'",
		Args:    arguments("NUMBER"),
	}, func(args []string) admin.NumberRow { return admin.NumberRow{Pattern: args[0]} })
}

func (c *cli) numberChangeCommand(cmd *cobra.Command, row func(args []string) admin.NumberRow) *cobra.Command {
	var f intent
	var key string
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		if f.reason == "" {
			return usage("for example --reason 'order 12'", "a change of numbers wants a --reason")
		}
		change := admin.NumberChange{Rows: []admin.NumberRow{row(args)}, Author: cmp.Or(f.author, whoami()), Reason: f.reason, Key: key}
		var done admin.NumbersApplied
		if err := c.post(cmd, "/v1/numbers", change, &done); err != nil {
			return err
		}
		if r := change.Rows[0]; r.Group == "" && done.Same == 1 {
			fmt.Fprintf(c.err, "note: %s does not stand in the number table by itself; tandem number show says who owns it\n", r.Pattern)
		}
		return c.printNumbers(&done)
	})
	f.register(cmd)
	cmd.Flags().StringVar(&key, "key", "", "the same key twice is one change")
	return cmd
}

// printNumbers says what came of a change of numbers.
func (c *cli) printNumbers(done *admin.NumbersApplied) error {
	if c.output == "json" {
		return c.print(done, nil)
	}
	what := outcome(done.Generation, done.Edition, done.Millis, done.DryRun, done.Unchanged)
	_, err := fmt.Fprintf(c.out, "%s: %d set, %d removed, %d as before\n", what, done.Set, done.Removed, done.Same)
	return err
}

// outcome says what became of a change of what has editions.
func outcome(generation, edition uint64, millis int64, dryRun, unchanged bool) string {
	switch {
	case dryRun:
		return "nothing was changed (--dry-run)"
	case unchanged:
		return fmt.Sprintf("edition %d.%d says so already", generation, edition)
	}
	return fmt.Sprintf("edition %d.%d is in force after %d ms", generation, edition, millis)
}
