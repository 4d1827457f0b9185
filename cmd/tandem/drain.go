package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/internal/app"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// drainFlags are the flags of node drain.
type drainFlags struct {
	undo, stay, status bool
	wait               time.Duration
	author, reason     string
}

func (c *cli) nodeDrainCommand() *cobra.Command {
	var f drainFlags
	cmd := &cobra.Command{
		Use: "drain", Short: "Take the asked node out of service, or back",
		Long: `Takes the asked node out of service without losing a call. First it tells: OPTIONS get 503, the other
nodes know, calls are taken. When far ends have noticed, it passes new calls to the other nodes of its
site. When no call is left, or after drain.timeout of the node file, it ends what is left and the
process ends. With --stay the process stays until it is told to end; --undrain takes the order back.`,
		Example: "  tandem node drain --reason 'new kernel' --wait 15m\n  tandem node drain --undrain\n  tandem node drain --status -o json",
		Args:    arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if f.undo && (f.stay || f.wait > 0) || f.status && (f.undo || f.stay) {
				return usage("one of --undrain, --status, or an order with --stay and --wait", "these flags make no sense together")
			}
			if f.wait < 0 {
				return usage("for example --wait 15m", "--wait is not below zero")
			}
			return c.drain(cmd.Context(), &f)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.undo, "undrain", false, "put the node back into service")
	flags.BoolVar(&f.stay, "stay", false, "keep the process when no call is left")
	flags.BoolVar(&f.status, "status", false, "only show how far it is")
	flags.DurationVar(&f.wait, "wait", 0, "wait until the process has ended, or with --stay until no call is left, at most this long")
	flags.StringVar(&f.author, "author", "", "who wants it; the user of the machine unless given")
	flags.StringVar(&f.reason, "reason", "", "why")
	return cmd
}

func (c *cli) drain(ctx context.Context, f *drainFlags) error {
	r := request{method: http.MethodGet, path: "/v1/drain"}
	if !f.status {
		body, err := json.Marshal(admin.DrainOrder{Undo: f.undo, Stay: f.stay, Author: cmp.Or(f.author, whoami()), Reason: f.reason})
		if err != nil {
			return err
		}
		r = request{method: http.MethodPost, path: r.path, contentType: "application/json", body: body}
	}
	var d admin.Drain
	var list admin.NodeList
	if r.method == http.MethodPost && !f.undo && c.ask(ctx, request{method: http.MethodGet, path: "/v1/nodes"}, &list) == nil {
		if note := quorumNote(&list); note != "" {
			fmt.Fprintln(c.err, "note:", note)
		}
	}
	if err := c.ask(ctx, r, &d); err != nil {
		return err
	}
	if f.wait > 0 {
		return c.awaitDrain(ctx, d, f.wait)
	}
	return c.print(d, func() *table { return drainTable(&d) })
}

// quorumNote says what the end of the asked node means for changes of the
// configuration, when it means something.
func quorumNote(list *admin.NodeList) string {
	voters, up, votes := 0, 0, false
	for _, n := range list.Nodes {
		if n.Raft != "leader" && n.Raft != "voter" {
			continue
		}
		voters++
		if n.Self {
			votes = true
		}
		if n.Up || n.Self {
			up++
		}
	}
	if !votes || up-1 > voters/2 {
		return ""
	}
	return fmt.Sprintf("of %d voters %d are up: without this one the configuration cannot be changed until another is back; calls go on", voters, up)
}

// awaitDrain shows each phase until the node does not answer any more, which is
// what the end of its process looks like, or until nothing is left on it.
func (c *cli) awaitDrain(ctx context.Context, d admin.Drain, wait time.Duration) error {
	const pause = 200 * time.Millisecond
	end, shown := time.Now().Add(wait), ""
	for {
		if d.Phase != shown {
			shown = d.Phase
			fmt.Fprintf(c.err, "%s: %s, %d calls, %d passed\n", d.Phase, d.Why, d.Calls, d.Passed)
		}
		if d.Stay && d.Phase == "passing" && d.Calls == 0 && d.Passed == 0 {
			return c.print(d, func() *table { return drainTable(&d) })
		}
		if !time.Now().Before(end) {
			return fail(exitUnavailable, "tandem node drain --status shows how far it is; tandem call list what is left",
				"after %s the node is %s with %d calls", wait, d.Phase, d.Calls)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		err := c.ask(ctx, request{method: http.MethodGet, path: "/v1/drain"}, &d)
		if hasEnded(err) {
			d = admin.Drain{Phase: "ended", Why: "the process does not answer any more"}
			return c.print(d, func() *table { return drainTable(&d) })
		}
		if f, ok := errors.AsType[*failure](err); ok && f.code == exitUnavailable {
			continue
		}
		if err != nil {
			return err
		}
		if d.Phase == "serving" {
			return fail(exitFailed, "", "somebody has put the node back into service")
		}
	}
}

// hasEnded tells whether a failed question means that the process is not there any
// more; one that is merely slow is asked again.
func hasEnded(err error) bool {
	for _, end := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, fs.ErrNotExist, io.EOF} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}

func drainTable(d *admin.Drain) *table {
	t := &table{head: []string{"PHASE", "SINCE", "ENDS BY", "CALLS", "PASSED", "BY", "REASON", "WAITS FOR"}}
	why := d.Why
	if d.Phase == "serving" {
		why = ""
	}
	t.add(d.Phase, moment(d.Since), moment(d.Until), strconv.Itoa(d.Calls), strconv.Itoa(d.Passed), d.By, d.Reason, why)
	return t
}

// untilEnd runs a started node until its process may end: the first SIGTERM
// drains it, a second one, and SIGINT at once, ends what is left. One more ends
// the process itself.
func untilEnd(ctx context.Context, node *app.App) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)
	asked := ctx.Done()
	seen := 0
	for {
		select {
		case s := <-signals:
			// The first signal is the one that ends ctx.
			if seen++; s == os.Interrupt || seen > 1 {
				node.Hurry(s.String())
			}
		case <-asked:
			asked = nil
			node.Drain("signal")
		case <-node.Ended():
			return nil
		case err := <-node.Failed():
			return err
		}
	}
}
