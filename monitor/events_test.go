package monitor

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// lines keeps what a logger writes.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// events are the messages about a member, with its state.
func (l *lines) events(t *testing.T, member string) (list []string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(l.buf.Bytes()) {
		var e struct{ Msg, Group, Member, State, Reason, Address string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Group+"/"+e.Member == member {
			list = append(list, e.Msg+": "+e.State)
			if e.Reason == "" || e.Address == "" {
				t.Errorf("a line without a reason or an address: %s", line)
			}
		}
	}
	return list
}

// K-26: "events dst-down / dst-up": one line when a member ceases to get calls, one when it gets them again, however often it is probed between.
func TestK26_EventsDownAndUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 2, 1, nil)
		c := newCluster(t, table, "ashburn-1")
		var log lines
		n := c.newNode("dallas-1", func(cfg *Config) { cfg.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
		n.Start()
		n.SetTable(table)
		defer n.Stop()
		for range 2 {
			wait(15 * time.Second)
			c.set(func() { c.dead[addr("dallas", 1, 0)] = true })
			wait(time.Minute)
			c.set(func() { c.dead[addr("dallas", 1, 0)] = false })
			wait(30 * time.Second)
		}
		cycle := []string{"member changed state: trying", "member is down: down", "member changed state: probation", "member is up: active"}
		want := slices.Concat([]string{"member changed state: active"}, cycle, cycle)
		if got := log.events(t, "g1/dallas-0"); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// The same address under two members is two members: each has its id, its probes and its state, and one that is taken out leaves the other.
func TestSameAddressOfTwoMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := tableOf(t, 3, 1, func(d *trunkgroup.Document) {
			d.TrunkGroups[2].Members[0].Address = d.TrunkGroups[1].Members[0].Address
		})
		c := newCluster(t, table, "dallas-1", "ashburn-1")
		wait(5 * time.Second)
		if _, err := c.nodes[0].SetState("g1/dallas-0", trunkgroup.AdminDisabled, "ann", ""); err != nil {
			t.Fatal(err)
		}
		wait(time.Second)
		c.probes("dallas-1")
		wait(30 * time.Second)
		if sent := c.probes("dallas-1"); sent["g1/dallas-0"] != 0 || sent["g2/dallas-0"] != 3 {
			t.Errorf("probes %v", sent)
		}
		for _, n := range c.nodes {
			if one, other := n.state("g1/dallas-0"), n.state("g2/dallas-0"); one != "disabled" || other != "active" {
				t.Errorf("%s: %s and %s", n.name, one, other)
			}
		}
	})
}
