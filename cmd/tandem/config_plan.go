package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func (c *cli) configPlanCommand() *cobra.Command {
	return &cobra.Command{
		Use: "plan FILE", Short: "Say what a document would change, and change nothing",
		Long: `Checks a document and says what applying it would change: groups, members, numbers, sources, and
how many of the last calls of the asked node would route differently, with examples. A call counts
when the groups, members or answers that it could get are others; whose turn it is and who is down
now does not count. FILE may be - for standard input.`,
		Example: "  tandem config plan cluster.yaml",
		Args:    arguments("FILE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			text, expect, err := c.editedDocument(cmd.Context(), args[0], "")
			if err != nil {
				return err
			}
			var p admin.Plan
			path := "/v1/config/plan"
			if expect != "" {
				path += "?expect_revision=" + expect
			}
			err = c.ask(cmd.Context(), request{method: http.MethodPost, path: path, contentType: "application/yaml", body: text}, &p)
			if err != nil {
				return hintConflict(err, args[0], "delete its first line to plan it as it is")
			}
			if c.output == "json" {
				return c.print(p, nil)
			}
			return c.printPlan(&p)
		}),
	}
}

// editedDocument reads and checks a file that may begin with the line of "config show", and returns
// the document without that line and the revision that it was made from, empty for any.
func (c *cli) editedDocument(ctx context.Context, path, revision string) (text []byte, expect string, err error) {
	doc, text, err := c.readDocument(path)
	if err != nil {
		return nil, "", err
	}
	c.noteStrays(ctx, doc)
	expect = revision
	if m := header.FindSubmatch(text); m != nil {
		expect = cmp.Or(expect, string(m[1]))
		text = bytes.TrimPrefix(text, m[0])
	}
	if expect == "" {
		return text, "", nil
	}
	n, err := parseRevision(expect)
	return text, strconv.FormatUint(n, 10), err
}

// noteStrays says which running nodes would have no site any more. Whoever cannot be
// asked now answers the change itself.
func (c *cli) noteStrays(ctx context.Context, doc *trunkgroup.Document) {
	var list admin.NodeList
	if c.ask(ctx, request{method: http.MethodGet, path: "/v1/nodes"}, &list) != nil {
		return
	}
	for _, n := range list.Nodes {
		is := func(s trunkgroup.SiteSpec) bool { return s.Name == n.Site }
		if (n.Up || n.Self) && !n.Witness && !slices.ContainsFunc(doc.Sites, is) {
			fmt.Fprintf(c.err, "note: node %s stands in site %q, which the document does not have: it would have no members to dial\n", n.Name, n.Site)
		}
	}
}

// parseRevision reads a revision as it is shown, generation.revision, or its second half alone.
func parseRevision(s string) (uint64, error) {
	number := s
	if _, revision, ok := strings.Cut(s, "."); ok {
		number = revision
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, usage("tandem config history shows revisions, such as 1.7", "%q is no revision", s)
	}
	return n, nil
}

// printPlan prints what changes, then which calls it would touch.
func (c *cli) printPlan(p *admin.Plan) error {
	from := fmt.Sprintf("revision %d.%d", p.Generation, p.Revision)
	if p.Revision == 0 {
		from = "no document"
	}
	switch {
	case p.Same:
		_, err := fmt.Fprintf(c.out, "no change: %s has the same text\n", from)
		return err
	case p.Equal:
		fmt.Fprintf(c.out, "against %s: the text differs, its meaning does not\n", from)
	default:
		fmt.Fprintf(c.out, "against %s: %s\n\n", from, tallies(&p.Diff))
		if err := differences(&p.Diff).write(c.out); err != nil {
			return err
		}
		if p.Diff.More > 0 {
			fmt.Fprintf(c.out, "and %d more\n", p.Diff.More)
		}
	}
	return c.printCalls(p)
}

// tallies counts in one line what a plan changes.
func tallies(d *trunkgroup.Diff) string {
	var parts []string
	for _, what := range []string{"document", "site", "customer", "group", "member", "number", "source", "credential", "route_plan", "route"} {
		t := d.Tallies[what]
		if t == nil {
			continue
		}
		var counts []string
		for _, x := range []struct {
			sign string
			n    int
		}{{"+", t.Added}, {"-", t.Removed}, {"~", t.Changed}} {
			if x.n > 0 {
				counts = append(counts, fmt.Sprintf("%s%d", x.sign, x.n))
			}
		}
		if counts == nil {
			counts = []string{"reordered"}
		}
		parts = append(parts, strings.ReplaceAll(what, "_", " ")+" "+strings.Join(counts, " "))
	}
	return strings.Join(parts, ", ")
}

func differences(d *trunkgroup.Diff) *table {
	t := &table{head: []string{"CHANGE", "WHAT", "NAME", "FIELD", "WAS", "WOULD BE"}}
	for _, x := range d.List {
		name := x.Name
		if x.Group != "" && x.Op != trunkgroup.Moved {
			name += " (" + x.Group + ")"
		}
		t.add(string(x.Op), strings.ReplaceAll(x.What, "_", " "), name, x.Field, x.Was, x.Would)
	}
	return t
}

func (c *cli) printCalls(p *admin.Plan) error {
	if p.Calls.Asked == 0 {
		_, err := fmt.Fprintln(c.out, "\nthis node has had no calls to ask about")
		return err
	}
	since := ""
	if p.Oldest != nil {
		since = ", since " + p.Oldest.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(c.out, "\n%d of the last %d calls of this node%s would route differently\n", p.Calls.Different, p.Calls.Asked, since)
	for _, s := range p.Calls.Shifts {
		writeShift(c.out, &s)
	}
	if p.Calls.More > 0 {
		fmt.Fprintf(c.out, "  and in %d other ways\n", p.Calls.More)
	}
	return nil
}

func writeShift(w io.Writer, s *trunkgroup.Shift) {
	fmt.Fprintf(w, "  %s\n    was   %s\n    would %s\n", count(s.Calls, "call"), s.Was, s.Would)
	for _, example := range s.Examples {
		fmt.Fprintf(w, "    such as %s\n", example)
	}
}

func (c *cli) configDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diff REVISION [REVISION]", Short: "Say what lies between two revisions",
		Long: `Says what the second revision changed, or, of one revision, what has changed since. Revisions are
written as config history shows them.`,
		Example: "  tandem config diff 1.7 1.9\n  tandem config diff 1.7",
		Args:    cobra.RangeArgs(1, 2),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			query := url.Values{}
			for i, key := range []string{"from", "to"} {
				if i >= len(args) {
					break
				}
				n, err := parseRevision(args[i])
				if err != nil {
					return err
				}
				query.Set(key, strconv.FormatUint(n, 10))
			}
			var p admin.Plan
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/config/diff?" + query.Encode()}, &p); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(p, nil)
			}
			return c.printPlan(&p)
		}),
	}
}
