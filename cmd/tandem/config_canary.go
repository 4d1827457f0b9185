package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func (c *cli) configCanaryCommand() *cobra.Command {
	var f intent
	var site, expect string
	cmd := &cobra.Command{
		Use: "canary [FILE]", Short: "Let one site try a document, or show the one that is tried",
		Long: `With FILE, makes a document the one of a single site; the other sites go on with the one in force. A
node of the site that sees its calls fail goes back by itself and raises an alarm; what the others do
is for you to say: "config promote" makes the canary the cluster's, "config abandon" takes it back.
Nothing else can be changed meanwhile. Without FILE, shows the canary and what its nodes run.`,
		Example: "  tandem config canary cluster.yaml --site ashburn --reason 'new carrier'\n  tandem config canary",
		Args:    cobra.MaximumNArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.showCanary(cmd)
			}
			if site == "" {
				return usage("for example --site ashburn", "--site says which site tries the document")
			}
			text, expect, err := c.editedDocument(cmd.Context(), args[0], expect)
			if err != nil {
				return err
			}
			query := url.Values{"site": {site}, "author": {cmp.Or(f.author, whoami())}, "reason": {f.reason}}
			if expect != "" {
				query.Set("expect_revision", expect)
			}
			var done admin.Applied
			path := "/v1/config/canary?" + query.Encode()
			if err := c.ask(cmd.Context(), request{method: http.MethodPost, path: path, contentType: "application/yaml", body: text}, &done); err != nil {
				return hintConflict(err, args[0], "delete its first line to try it as it is")
			}
			if c.output == "json" {
				return c.print(done, nil)
			}
			if done.Unchanged {
				_, err = fmt.Fprintf(c.out, "revision %d.%d of cluster %s has this document already: nothing is tried\n", done.Generation, done.Revision, done.Cluster)
				return err
			}
			_, err = fmt.Fprintf(c.out, "revision %d.%d is tried in %s; tandem config promote or tandem config abandon ends that\n", done.Generation, done.Revision, site)
			return err
		}),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&site, "site", "", "the site that tries it")
	cmd.Flags().StringVar(&expect, "expect", "", "only while this revision is in force, such as 1.7")
	return cmd
}

func (c *cli) showCanary(cmd *cobra.Command) error {
	var k admin.Canary
	if err := c.ask(cmd.Context(), request{method: http.MethodGet, path: "/v1/config/canary"}, &k); err != nil {
		return err
	}
	if c.output == "json" {
		return c.print(k, nil)
	}
	fmt.Fprintf(c.out, "revision %d.%d is tried in %s since %s, by %s: %s\n\n", k.Generation, k.Revision, k.Site, moment(k.At),
		cmp.Or(k.Author, "unknown"), cmp.Or(k.Reason, "no reason given"))
	t := &table{head: []string{"NODE", "RUNS", "STATE"}}
	for _, n := range k.Nodes {
		state := "tries it"
		switch {
		case n.FellBack:
			state = "went back"
		case n.Revision != k.Revision:
			state = "does not run it yet"
		}
		runs := ""
		if n.Revision > 0 {
			runs = fmt.Sprintf("%d.%d", n.Generation, n.Revision)
		}
		t.add(n.Name, runs, state)
	}
	if err := t.write(c.out); err != nil || k.Fallen == "" {
		return err
	}
	_, err := fmt.Fprintf(c.out, "\nthis node went back at %s: %s\n", moment(k.FallenAt), k.Fallen)
	return err
}

// configVerdictCommand is promote or abandon.
func (c *cli) configVerdictCommand(promote bool) *cobra.Command {
	var f intent
	var revision string
	cmd := &cobra.Command{
		Use: "abandon", Short: "Take the canary back from its site",
		Long: "The site of the canary returns to the document of the others, octet for octet.",
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			v := admin.Verdict{Promote: promote, Author: cmp.Or(f.author, whoami()), Reason: f.reason}
			if revision != "" {
				n, err := parseRevision(revision)
				if err != nil {
					return err
				}
				v.Revision = n
			}
			var done admin.Applied
			if err := c.post(cmd, "/v1/config/canary/verdict", v, &done); err != nil {
				return err
			}
			return c.printApplied(&done)
		}),
	}
	if promote {
		cmd.Use, cmd.Short = "promote", "Make the canary the document of all sites"
		cmd.Long = "All sites take the canary's document; a node that went back from it takes it too."
	}
	f.register(cmd)
	cmd.Flags().StringVar(&revision, "revision", "", "only when this is the canary, such as 1.8")
	return cmd
}
