package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// importPatience is how long an import may take unless --timeout says more.
const importPatience = 30 * time.Minute

func (c *cli) numberImportCommand() *cobra.Command {
	var f intent
	var inGroup, replace, key string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Take a list of numbers, whole or not at all",
		Long: `Takes a list (CSV) with a number and a group in each line; "-" as the group takes the number out. All
faults are told with their lines, and then nothing is changed. Only what differs from the table is sent,
and all nodes change over in one step. FILE may be - for standard input. docs/numbers.md says more.`,
		Example: "  tandem number import ported.csv --dry-run\n  tandem number import acme.csv --replace-group acme-in --reason 'port-in 4711'",
		Args:    arguments("FILE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if f.reason == "" && !dryRun {
				return usage("for example --reason 'port-in 4711'", "an import wants a --reason")
			}
			list, err := c.open(args[0])
			if err != nil {
				return err
			}
			defer list.Close()
			query := f.importQuery(dryRun, map[string]string{"group": inGroup, "replace_group": replace})
			var done admin.NumbersApplied
			if err := c.sendList(cmd, "/v1/numbers/import?"+query.Encode(), key, list, &done); err != nil {
				return err
			}
			return c.printNumbers(&done)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&inGroup, "group", "", "whose the numbers are where a line names no group")
	cmd.Flags().StringVar(&replace, "replace-group", "", "take out what this group has and the list has not")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check, and say what would change")
	cmd.Flags().StringVar(&key, "key", "", "the same key twice is one import")
	return cmd
}

// importQuery is what an import of a list asks for: who and why, and what else is not empty.
func (f *intent) importQuery(dryRun bool, also map[string]string) url.Values {
	query := url.Values{"author": {cmp.Or(f.author, whoami())}, "reason": {f.reason}}
	for name, value := range also {
		if value != "" {
			query.Set(name, value)
		}
	}
	if dryRun {
		query.Set("dry_run", "true")
	}
	return query
}

// stream sends a request whose body or answer is too long to be held, and gives it its time.
func (c *cli) stream(cmd *cobra.Command, method, path, key string, body io.Reader) (*api, *http.Response, error) {
	a, err := c.api()
	if err != nil {
		return nil, nil, err
	}
	a.http.Timeout = max(a.http.Timeout, importPatience)
	kind := ""
	if body != nil {
		kind = "text/csv"
	}
	req, err := a.request(cmd.Context(), method, path, kind, body)
	if err != nil {
		return nil, nil, err
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := a.http.Do(req)
	if err != nil {
		return nil, nil, a.unreachable(err)
	}
	return a, res, nil
}

func (c *cli) sendList(cmd *cobra.Command, path, key string, list io.Reader, v any) error {
	a, res, err := c.stream(cmd, http.MethodPost, path, key, list)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return a.unreachable(err)
	}
	if res.StatusCode >= 300 {
		return a.refused(res, body)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fail(exitFailed, "is this program as new as the node?", "the node's answer does not read: %w", err)
	}
	return nil
}

func (c *cli) numberExportCommand() *cobra.Command {
	var inGroup string
	cmd := &cobra.Command{
		Use: "export", Short: "Write the number table as a list that import takes", Args: arguments(),
		Long:    `Writes the number table of the asked node to standard output, as number import reads it. It works without a leader too.`,
		Example: "  tandem number export --group acme-in > acme.csv",
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			path := "/v1/numbers/export"
			if inGroup != "" {
				path += "?" + url.Values{"group": {inGroup}}.Encode()
			}
			a, res, err := c.stream(cmd, http.MethodGet, path, "", nil)
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
	cmd.Flags().StringVar(&inGroup, "group", "", "only of this group")
	return cmd
}
