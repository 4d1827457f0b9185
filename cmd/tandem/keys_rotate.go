package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// keyCommands are the steps of a rotation, in their order, and what shows where it stands.
func (c *cli) keyCommands() []*cobra.Command {
	return []*cobra.Command{c.keyListCommand(), c.keyStatusCommand(), c.keyAddCommand(), c.keyUseCommand(), c.keyRemoveCommand()}
}

func (c *cli) keyListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list FILE", Short: "Show the ids of the keys in a key file",
		Long:    "Shows the id of each key, the one in use first. An id tells nothing of its key.",
		Example: "  tandem cluster key list /etc/tandem/cluster.key",
		Args:    arguments("FILE"),
		RunE: action(func(_ *cobra.Command, args []string) error {
			_, ids, err := readKeys(args[0])
			if err != nil {
				return err
			}
			return c.print(ids, func() *table { return heldTable(ids) })
		}),
	}
}

func heldTable(ids []heldKey) *table {
	t := &table{head: []string{"KEY", "USE"}}
	for _, k := range ids {
		t.add(k.ID, k.Use)
	}
	return t
}

// rewriteKeys puts a changed key file into its place and shows it.
func (c *cli) rewriteKeys(path string, f config.KeyFile, next string) error {
	ids, err := describeKeys(f)
	if err != nil {
		return err
	}
	if err := writePrivate(path, []byte(f.Format())); err != nil {
		return err
	}
	fmt.Fprintln(c.err, "note:", next)
	return c.print(ids, func() *table { return heldTable(ids) })
}

func (c *cli) keyAddCommand() *cobra.Command {
	return &cobra.Command{
		Use: "add FILE", Short: "First step of a rotation: a new key that is accepted and not used",
		Long: `Makes a key, writes it to the end of the key file, and shows the ids of all. Then copy the file to all nodes; they take it
within seconds. Nothing is used that some node does not hold.`,
		Example: "  tandem cluster key add /etc/tandem/cluster.key",
		Args:    arguments("FILE"),
		RunE: action(func(_ *cobra.Command, args []string) error {
			f, _, err := readKeys(args[0])
			if err != nil {
				return err
			}
			text, err := newKey()
			if err != nil {
				return err
			}
			key, err := config.ParseKey(text)
			if err != nil {
				return err
			}
			keepSeed(&f)
			f.Keys = append(f.Keys, key)
			return c.rewriteKeys(args[0], f, "copy the file to all nodes; when tandem cluster key status shows the new key on all of them, the next step is tandem cluster key use")
		}),
	}
}

func (c *cli) keyUseCommand() *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use: "use FILE KEY", Short: "Second step: the new key is used, the old one still accepted",
		Long: `Puts a key to the front of the key file: the one that a node uses. It asks a node first whether all nodes hold
it; --force does not ask. Then copy the file to all nodes, in any order.`,
		Example: "  tandem cluster key use /etc/tandem/cluster.key 3fa2c41b",
		Args:    arguments("FILE", "KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			f, at, err := findKey(args[0], args[1])
			if err != nil {
				return err
			}
			if !force {
				if err := c.keysReady(cmd.Context(), "held by", args[1], holds); err != nil {
					return err
				}
			}
			keepSeed(&f)
			key := f.Keys[at]
			f.Keys = append([]config.Secret{key}, slices.Delete(f.Keys, at, at+1)...)
			return c.rewriteKeys(args[0], f, "copy the file to all nodes; when tandem cluster key status shows it in use on all of them, and calls from before are over, the next step is tandem cluster key remove")
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask whether all nodes hold it")
	return cmd
}

func (c *cli) keyRemoveCommand() *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use: "remove FILE KEY", Short: "Last step: the old key is not accepted any more",
		Long: `Takes a key out of the key file. It asks a node first whether all nodes use another one; --force does not ask. Requests
inside calls that began under the old key, when they reach another node than the one that has the call, are answered 481 from
then on: wait as long as calls last (limits.max_duration).`,
		Example: "  tandem cluster key remove /etc/tandem/cluster.key 90b17e55",
		Args:    arguments("FILE", "KEY"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			f, at, err := findKey(args[0], args[1])
			if err != nil {
				return err
			}
			if at == 0 {
				return usage("tandem cluster key use puts another one in its place", "%s is the key in use", args[1])
			}
			if !force {
				ids, err := describeKeys(f)
				if err != nil {
					return err
				}
				if err := c.keysReady(cmd.Context(), "the one in use at", ids[0].ID, uses); err != nil {
					return err
				}
			}
			f.Keys = slices.Delete(f.Keys, at, at+1)
			return c.rewriteKeys(args[0], f, "copy the file to all nodes; streams that the removed key proved are closed")
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask whether all nodes use another one")
	return cmd
}

// findKey reads a key file and where in it a key stands.
func findKey(path, id string) (config.KeyFile, int, error) {
	f, ids, err := readKeys(path)
	if err != nil {
		return f, 0, err
	}
	at := slices.IndexFunc(ids, func(k heldKey) bool { return k.ID == id })
	if at < 0 {
		return f, 0, fail(exitNotFound, "tandem cluster key list FILE shows them", "%s holds no key %q", path, id)
	}
	return f, at, nil
}

func holds(n admin.NodeKeys, id string) bool { return slices.Contains(n.Keys, id) }

func uses(n admin.NodeKeys, id string) bool { return len(n.Keys) > 0 && n.Keys[0] == id }

// keysReady asks a node whether a key is held, or used, by every node.
func (c *cli) keysReady(ctx context.Context, word, id string, ok func(admin.NodeKeys, string) bool) error {
	var list admin.KeyList
	if err := c.ask(ctx, request{method: http.MethodGet, path: "/v1/keys"}, &list); err != nil {
		return err
	}
	if missing := lacking(list, id, ok); missing != "" {
		return fail(exitConflict, "copy the key file of the step before to them first; one that is gone for good is no reason to wait: --force", "key %s is not %s all nodes: %s", id, word, missing)
	}
	return nil
}

// lacking names the nodes for which ok is false, with what is known of them.
func lacking(list admin.KeyList, id string, ok func(admin.NodeKeys, string) bool) string {
	var missing []string
	for _, n := range list.Nodes {
		switch {
		case ok(n, id):
		case !n.Up:
			missing = append(missing, n.Name+" (it is lost)")
		case n.Told == nil:
			missing = append(missing, n.Name+" (it does not say)")
		default:
			missing = append(missing, n.Name)
		}
	}
	return strings.Join(missing, ", ")
}

func (c *cli) keyStatusCommand() *cobra.Command {
	var wait time.Duration
	var held, used string
	cmd := &cobra.Command{
		Use: "status", Short: "Show which keys and certificate each node holds",
		Long: `Shows what each node says of itself: the ids of its cluster keys, the one in use first, whether its streams to other
nodes are inside TLS, and when its certificate ends. A node that keys or certificates keep apart from the asked one is shown with
the reason. --held KEY or --used KEY, with --wait, waits until all nodes hold or use a key.`,
		Example: "  tandem cluster key status\n  tandem cluster key status --held 3fa2c41b --wait 1m",
		Args:    arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			list, err := c.keyList(cmd.Context(), wait, held, used)
			if err != nil {
				return err
			}
			if list.Differ != "" {
				fmt.Fprintln(c.err, "note:", list.Differ)
			}
			for _, r := range list.Refused {
				fmt.Fprintf(c.err, "note: %d streams of others were refused: %s\n", r.Count, r.Reason)
			}
			return c.print(list, func() *table { return keysTable(list.Nodes) })
		}),
	}
	cmd.Flags().DurationVar(&wait, "wait", 0, "wait at most this long for --held or --used")
	cmd.Flags().StringVar(&held, "held", "", "fail unless all nodes hold this key")
	cmd.Flags().StringVar(&used, "used", "", "fail unless all nodes use this key")
	return cmd
}

// keyList asks for the keys of the nodes, again and again while there is time to wait for a step to be everywhere.
func (c *cli) keyList(ctx context.Context, wait time.Duration, held, used string) (admin.KeyList, error) {
	const pause = 200 * time.Millisecond
	end := time.Now().Add(wait)
	for {
		var list admin.KeyList
		err := c.ask(ctx, request{method: http.MethodGet, path: "/v1/keys"}, &list)
		missing := ""
		if held != "" {
			missing = lacking(list, held, holds)
		}
		if missing == "" && used != "" {
			missing = lacking(list, used, uses)
		}
		if err == nil && missing == "" {
			return list, nil
		}
		if !time.Now().Before(end) {
			if err == nil {
				err = fail(exitUnavailable, "is the key file of these nodes the new one, and of mode 0600? Their logs and alarms say more", "not on all nodes: %s", missing)
			}
			return list, err
		}
		select {
		case <-ctx.Done():
			return list, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func keysTable(nodes []admin.NodeKeys) *table {
	t := &table{head: []string{"NODE", "UP", "KEYS", "TLS", "CERTIFICATE", "UNTIL", "AUTHORITIES", "REASON"}}
	for _, n := range nodes {
		name, up, tls := n.Name, "yes", "no"
		if n.Self {
			name += " *"
		}
		if !n.Up {
			up = "no"
		}
		switch {
		case n.TLS && n.Plain:
			tls = "optional"
		case n.TLS:
			tls = "required"
		}
		reason := n.Refused
		if n.Told == nil {
			tls = ""
			if reason == "" {
				reason = "it never said what it holds"
			}
		}
		short := func(list []string) string {
			var out []string
			for _, s := range list {
				out = append(out, s[:min(len(s), 8)])
			}
			return strings.Join(out, ",")
		}
		t.add(name, up, strings.Join(n.Keys, ","), tls, short([]string{n.Certificate}), moment(n.Until), short(n.Authorities), reason)
	}
	return t
}
