package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) configHistoryCommand() *cobra.Command {
	limit := 20
	cmd := &cobra.Command{
		Use: "history", Short: "Show who changed the document, when and why",
		Long: "Shows the revisions that the cluster remembers, the newest first.",
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var h admin.History
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/config/history"}, &h); err != nil {
				return err
			}
			return c.print(h, func() *table { return historyTable(&h, limit) })
		}),
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "revisions to show at most; 0 for all")
	return cmd
}

func historyTable(h *admin.History, limit int) *table {
	t := &table{head: []string{"REVISION", "STATE", "TIME", "AUTHOR", "BYTES", "SHA-256", "REASON"}}
	for i := len(h.Revisions) - 1; i >= 0 && (limit <= 0 || len(t.rows) < limit); i-- {
		r := &h.Revisions[i]
		t.add(fmt.Sprintf("%d.%d", r.Generation, r.Revision), r.State, moment(r.At), r.Author, strconv.Itoa(r.Bytes), r.Sum[:min(12, len(r.Sum))], r.Reason)
	}
	return t
}

// intent are the flags of everything that changes the cluster.
type intent struct{ reason, author string }

func (f *intent) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.reason, "reason", "", "why; kept with the change")
	cmd.Flags().StringVar(&f.author, "author", "", "who; the user of this process unless given")
}

func (c *cli) configRollbackCommand() *cobra.Command {
	var f intent
	cmd := &cobra.Command{
		Use: "rollback REVISION", Short: "Put the document of an earlier revision in force again",
		Long: `Makes a new revision of an earlier document, octet for octet as it was. "config diff REVISION" says
before what that would undo.`,
		Example: "  tandem config rollback 1.7 --reason 'carrier-b refuses calls'",
		Args:    arguments("REVISION"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			n, err := parseRevision(args[0])
			if err != nil {
				return err
			}
			if f.reason == "" {
				return usage("for example --reason 'carrier-b refuses calls'", "a rollback wants a --reason")
			}
			var done admin.Applied
			if err := c.post(cmd, "/v1/config/rollback", admin.Rollback{Revision: n, Author: cmp.Or(f.author, whoami()), Reason: f.reason}, &done); err != nil {
				return err
			}
			return c.printApplied(&done)
		}),
	}
	f.register(cmd)
	return cmd
}

// post sends a JSON body and decodes the answer.
func (c *cli) post(cmd *cobra.Command, path string, body, v any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.ask(cmd.Context(), request{method: http.MethodPost, path: path, contentType: "application/json", body: text}, v)
}

// printApplied says which revision is in force now.
func (c *cli) printApplied(done *admin.Applied) error {
	if c.output == "json" {
		return c.print(done, nil)
	}
	what := "is in force"
	switch {
	case done.Unchanged:
		what = "has this document already: nothing changed"
	case done.DryRun:
		what = "would be in force"
	}
	_, err := fmt.Fprintf(c.out, "revision %d.%d of cluster %s %s\n", done.Generation, done.Revision, done.Cluster, what)
	return err
}
