package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// desk is a Drainer whose drain goes on with every look at it.
type desk struct {
	mu    sync.Mutex
	order admin.DrainOrder
	list  []admin.Drain
	last  func() // runs with the last answer
	stop  func() // ends the API
}

func (d *desk) Drain(context.Context) (admin.Drain, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.list[0]
	if len(d.list) > 1 {
		d.list = d.list[1:]
	} else if d.last != nil {
		go d.last()
		d.last = nil
	}
	return now, nil
}

func (d *desk) SetDrain(ctx context.Context, o admin.DrainOrder) (admin.Drain, error) {
	d.mu.Lock()
	d.order = o
	d.mu.Unlock()
	if o.Undo {
		return admin.Drain{}, fmt.Errorf("%w: the process was told to end", admin.ErrRefused)
	}
	return d.Drain(ctx)
}

func serveDesk(t *testing.T, d *desk) string {
	t.Helper()
	s, err := admin.New(admin.Settings{Network: "tcp", Address: "127.0.0.1:0", Backend: admin.Backend{Drain: d}})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	d.stop = func() { _ = s.Stop(context.Background()) }
	return s.Addr().String()
}

func TestDEC19_NodeDrain(t *testing.T) {
	announcing := admin.Drain{Phase: "announcing", Since: &noon, Begun: &noon, Until: &noon, By: "ann", Reason: "kernel", Why: "calls are taken", Calls: 3}
	passing := admin.Drain{Phase: "passing", Since: &noon, Stay: true, Why: "stays", Calls: 0}
	t.Run("an order and what it says", func(t *testing.T) {
		d := &desk{list: []admin.Drain{announcing}}
		code, out, errs := tandem(t, "node", "drain", "--address", serveDesk(t, d), "--reason", "kernel", "--author", "ann")
		if code != exitOK || !strings.Contains(out, "announcing") || !strings.Contains(out, "kernel") || !strings.Contains(out, "2026-11-30T12:00:00Z") {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
		if d.order != (admin.DrainOrder{Author: "ann", Reason: "kernel"}) {
			t.Errorf("order %+v", d.order)
		}
	})
	t.Run("status orders nothing", func(t *testing.T) {
		d := &desk{list: []admin.Drain{{Phase: "serving"}}}
		code, out, _ := tandem(t, "node", "drain", "--address", serveDesk(t, d), "--status", "-o", "json")
		var got admin.Drain
		if err := json.Unmarshal([]byte(out), &got); code != exitOK || err != nil || got.Phase != "serving" || d.order != (admin.DrainOrder{}) {
			t.Errorf("exit code %d, %v: %s", code, err, out)
		}
	})
	t.Run("too late to undo", func(t *testing.T) {
		d := &desk{list: []admin.Drain{announcing}}
		code, _, errs := tandem(t, "node", "drain", "--address", serveDesk(t, d), "--undrain")
		if code != exitFailed || !strings.Contains(errs, "told to end") || !d.order.Undo {
			t.Errorf("exit code %d: %s", code, errs)
		}
	})
	t.Run("waits until no call is left", func(t *testing.T) {
		d := &desk{list: []admin.Drain{announcing, passing}}
		code, out, errs := tandem(t, "node", "drain", "--address", serveDesk(t, d), "--stay", "--wait", "1m")
		if code != exitOK || !strings.Contains(out, "passing") || !strings.Contains(errs, "announcing: calls are taken, 3 calls") || !d.order.Stay {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	})
	t.Run("waits for the end", func(t *testing.T) {
		d := &desk{list: []admin.Drain{announcing, {Phase: "ending"}}}
		address := serveDesk(t, d)
		d.last = d.stop
		code, out, errs := tandem(t, "node", "drain", "--address", address, "--wait", "1m")
		if code != exitOK || !strings.Contains(out, "ended") {
			t.Errorf("exit code %d: %s%s", code, out, errs)
		}
	})
	t.Run("not within the time", func(t *testing.T) {
		d := &desk{list: []admin.Drain{announcing}}
		code, _, errs := tandem(t, "node", "drain", "--address", serveDesk(t, d), "--wait", "1ms")
		if code != exitUnavailable || !strings.Contains(errs, "with 3 calls") {
			t.Errorf("exit code %d: %s", code, errs)
		}
	})
	t.Run("undrained meanwhile", func(t *testing.T) {
		d := &desk{list: []admin.Drain{announcing, {Phase: "serving"}}}
		if code, _, errs := tandem(t, "node", "drain", "--address", serveDesk(t, d), "--wait", "1m"); code != exitFailed {
			t.Errorf("exit code %d: %s", code, errs)
		}
	})
	t.Run("no node", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		if code, _, _ := tandem(t, "node", "drain", "--address", l.Addr().String()); code != exitUnavailable {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("flags that make no sense", func(t *testing.T) {
		for _, flags := range [][]string{{"--undrain", "--stay"}, {"--status", "--undrain"}, {"--undrain", "--wait", "1s"}} {
			if code, _, _ := tandem(t, append([]string{"node", "drain"}, flags...)...); code != exitUsage {
				t.Errorf("%v: exit code %d", flags, code)
			}
		}
	})
}

// TestRunbookCommandsExist asks each command line of the runbook for its help: a
// command or a flag that is gone fails.
func TestRunbookCommandsExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/upgrade.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile("(?m)(?:^ *|`)tandem ([^`\n]+)").FindAllStringSubmatch(string(text), -1)
	if len(lines) < 10 {
		t.Fatalf("only %d command lines", len(lines))
	}
	for _, m := range lines {
		args := strings.Fields(m[1])
		if code, _, errs := tandem(t, append(args, "--help")...); code != exitOK {
			t.Errorf("tandem %s: exit code %d: %s", m[1], code, errs)
		}
	}
}

func TestDEC19_DrainTellsOfTheQuorum(t *testing.T) {
	nodes := func(self string, up ...bool) *admin.NodeList {
		list := &admin.NodeList{Nodes: []admin.Node{{Name: "n0", Self: true, Raft: self}}}
		for _, u := range up {
			list.Nodes = append(list.Nodes, admin.Node{Raft: "voter", Up: u})
		}
		return list
	}
	for name, c := range map[string]struct {
		list *admin.NodeList
		note bool
	}{
		"five of five up":    {nodes("voter", true, true, true, true), false},
		"four of five up":    {nodes("leader", true, true, true, false), false},
		"three of five up":   {nodes("voter", true, true, false, false), true},
		"two of three up":    {nodes("voter", true, false), true},
		"the only one":       {nodes("leader"), true},
		"one without a vote": {nodes("nonvoter", true, true, false), false},
		"quorum is lost":     {nodes("voter", false, false), true},
		"three of three up":  {nodes("voter", true, true), false},
	} {
		if got := quorumNote(c.list); (got != "") != c.note {
			t.Errorf("%s: %q", name, got)
		}
	}
}
