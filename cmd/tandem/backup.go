package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) configBackupCommand() *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write the whole configuration log to one file",
		Long: `Writes all revisions that the cluster remembers, with authors and reasons, to a file with a
checksum. It works on any node, without a leader too. FILE may be - for standard output. The file
is sealed under the cluster keys that the node holds, and a restore needs one of them: keep the key
file too, somewhere else. The file's mode is 0600.`,
		Example: "  tandem config backup /var/backups/tandem-$(date +%F).backup",
		Args:    arguments("FILE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			a, err := c.api()
			if err != nil {
				return err
			}
			body, err := a.do(cmd.Context(), request{method: http.MethodGet, path: "/v1/config/backup"})
			if err != nil {
				return err
			}
			if args[0] == "-" {
				_, err = c.out.Write(body)
				return err
			}
			if err := writeBackup(args[0], body, force); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.out, "%s: %d bytes; tandem config restore %s --dry-run checks it\n", args[0], len(body), args[0])
			return err
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

// writeBackup writes a file that is on disk when it returns, and never half of one.
func writeBackup(path string, body []byte, force bool) (err error) {
	if _, err := os.Lstat(path); !force && !errors.Is(err, fs.ErrNotExist) {
		return usage("--force replaces it", "%s is there already", path)
	}
	f, err := os.OpenFile(path+".partial", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".partial"))
	}
	return os.Rename(path+".partial", path)
}

func (c *cli) configRestoreCommand() *cobra.Command {
	var f intent
	var revision string
	dryRun := false
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Put the document of a backup into force",
		Long: `Checks a backup and puts its document into force, with a generation above all that run, so that
every node takes it, and adds the revisions that only the backup knows to the history. It needs a
leader: a cluster that has lost its quorum wants "tandem cluster recover" first. FILE may be - for
standard input.`,
		Example: "  tandem config restore tandem.backup --dry-run\n  tandem config restore tandem.backup --reason 'disk of all voters lost'",
		Args:    arguments("FILE"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			file, err := c.read(args[0])
			if err != nil {
				return err
			}
			if f.reason == "" && !dryRun {
				return usage("for example --reason 'disks of all voters lost'", "a restore wants a --reason")
			}
			query := url.Values{"author": {cmp.Or(f.author, whoami())}, "reason": {f.reason}, "dry_run": {strconv.FormatBool(dryRun)}}
			if revision != "" {
				n, err := parseRevision(revision)
				if err != nil {
					return err
				}
				query.Set("revision", strconv.FormatUint(n, 10))
			}
			var done admin.Applied
			path := "/v1/config/restore?" + query.Encode()
			if err := c.ask(cmd.Context(), request{method: http.MethodPost, path: path, contentType: "application/octet-stream", body: file}, &done); err != nil {
				return err
			}
			if dryRun && c.output != "json" {
				_, err = fmt.Fprintf(c.out, "%s: ok, revision %d.%d of cluster %s\n", args[0], done.Generation, done.Revision, done.Cluster)
				return err
			}
			return c.printApplied(&done)
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&revision, "revision", "", "a revision of the backup, such as 1.7; the one that was in force unless given")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only check the file")
	return cmd
}
