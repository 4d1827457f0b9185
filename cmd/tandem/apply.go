package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/user"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// The first line of `config show` says which revision it shows. `config apply` reads it, so that a
// change of somebody else in between is found, and takes it off: it is no part of the document.
const headerFormat = "# tandem revision %d.%d\n"

var header = regexp.MustCompile(`^# tandem revision \d+\.(\d+)\r?\n`)

func (c *cli) configShowCommand() *cobra.Command {
	var revision string
	cmd := &cobra.Command{
		Use: "show", Short: "Print the document in force",
		Long: "Prints the cluster document that is in force, or with --revision an earlier one, as it was written,\nafter a line that names its revision.",
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var d admin.Document
			path := "/v1/config"
			if revision != "" {
				n, err := parseRevision(revision)
				if err != nil {
					return err
				}
				path = "/v1/config/revisions/" + strconv.FormatUint(n, 10)
			}
			if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: path}, &d); err != nil {
				return err
			}
			switch {
			case c.output == "json":
				return c.print(d, nil)
			case d.Revision == 0:
				return fail(exitNotFound, "tandem config apply FILE", "the cluster has no document yet")
			}
			_, err := fmt.Fprintf(c.out, headerFormat+"%s", d.Generation, d.Revision, d.Text)
			return err
		}),
	}
	cmd.Flags().StringVar(&revision, "revision", "", "an earlier revision, such as 1.7")
	return cmd
}

// applyFlags are the flags of config apply.
type applyFlags struct {
	reason, author, revision string
	force, dryRun            bool
}

func (c *cli) configApplyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use: "apply FILE", Short: "Make a document the one in force, on all nodes",
		Long: `Checks a document and makes it the one in force. FILE may be - for standard input. A file that
begins with the line that "config show" prints is only applied while that revision is in force, so
that nobody's change is lost (exit code 4); --force applies it all the same.`,
		Example: "  tandem config show > cluster.yaml && $EDITOR cluster.yaml && tandem config apply cluster.yaml --reason 'new carrier'",
		Args:    arguments("FILE"),
		RunE:    action(func(cmd *cobra.Command, args []string) error { return c.apply(cmd, args[0], f) }),
	}
	cmd.Flags().StringVar(&f.reason, "reason", "", "why; kept with the revision")
	cmd.Flags().StringVar(&f.author, "author", "", "who; the user of this process unless given")
	cmd.Flags().StringVar(&f.revision, "expect", "", "apply only while this revision is in force, such as 1.7")
	cmd.Flags().StringVar(&f.revision, "revision", "", "the same as --expect")
	cmd.Flags().BoolVar(&f.force, "force", false, "apply over whatever is in force")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "let the node check it, and change nothing")
	return cmd
}

func (c *cli) apply(cmd *cobra.Command, path string, f applyFlags) error {
	text, expect, err := c.editedDocument(cmd.Context(), path, f.revision)
	if err != nil {
		return err
	}
	if f.force {
		expect = ""
	}
	query := url.Values{"author": {cmp.Or(f.author, whoami())}, "reason": {f.reason}}
	if expect != "" {
		query.Set("expect_revision", expect)
	}
	if f.dryRun {
		query.Set("dry_run", "true")
	}
	var done admin.Applied
	err = c.ask(cmd.Context(), request{method: http.MethodPost, path: "/v1/config?" + query.Encode(), contentType: "application/yaml", body: text}, &done)
	if err != nil {
		return hintConflict(err, path, "--force applies it as it is")
	}
	return c.printApplied(&done)
}

// hintConflict says how to go on after somebody else's change.
func hintConflict(err error, path, regardless string) error {
	if f, ok := errors.AsType[*failure](err); ok && f.code == exitConflict {
		f.hint = "compare `tandem config show` with " + path + ", take over what changed, and try again; " + regardless
	}
	return err
}

// whoami names the user for the history of the document.
func whoami() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
