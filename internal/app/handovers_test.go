package app

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const twoSiteGroups = `
cluster: test
sites: [{name: dallas, peers: [ashburn]}, {name: ashburn, peers: [dallas]}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555*"]
    members:
      - {id: dal, site: dallas, address: "192.0.2.1:5060"}
      - {id: ash, site: ashburn, address: "192.0.2.2:5060"}
  - name: beta-in
    role: origination-customer
    numbers: ["+1215555*"]
    members:
      - {id: ash, site: ashburn, address: "192.0.2.3:5060"}
  - name: gamma-out
    role: termination-customer
    sources: [{ip: 192.0.2.9}]
`

func (h *handovers) text() string {
	var lines []string
	for _, x := range h.list() {
		since := "-"
		if x.Active {
			since = x.Since.UTC().Format("15:04:05")
		}
		lines = append(lines, fmt.Sprintf("%s>%s %v %s %s", x.Group, x.Peer, x.Active, since, x.Total))
	}
	return strings.Join(lines, "; ")
}

// A group is handed over while nobody here takes its calls and somebody there does, and for a minute after a call that went.
func TestHandovers(t *testing.T) {
	table, err := Compile([]byte(twoSiteGroups), trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	view := func(down ...string) *verdict.Board {
		v := trunkgroup.NewView(table)
		for _, key := range down {
			v.States[table.Member(key).Index] = trunkgroup.Draining
		}
		return &verdict.Board{Table: table, View: v}
	}
	h := newHandovers("dallas")
	h.began = start
	away := false
	at := func(s int, b *verdict.Board, want string) {
		t.Helper()
		h.look(start.Add(time.Duration(s)*time.Second), b, func(site string) bool { return site == "ashburn" && !away })
		if got := h.text(); got != want {
			t.Errorf("after %d s: %s, want %s", s, got, want)
		}
	}
	all := view()
	at(0, all, "acme-in>ashburn false - 0s")
	at(10, view("acme-in/dal"), "acme-in>ashburn true 12:00:10 0s")
	at(20, view("acme-in/dal"), "acme-in>ashburn true 12:00:10 10s")
	at(25, view("acme-in/dal", "acme-in/ash"), "acme-in>ashburn false - 15s") // nobody anywhere
	at(30, all, "acme-in>ashburn false - 15s")
	// Calls that went without need of any state; beta has nobody here, which is no handover.
	h.went(start.Add(30*time.Second), "acme-in", "ashburn")
	h.went(start.Add(30*time.Second), "beta-in", "ashburn")
	h.went(start.Add(30*time.Second), "gamma-out", "ashburn")
	at(31, all, "acme-in>ashburn true 12:00:31 15s; gamma-out>ashburn true 12:00:31 0s")
	at(91, all, "acme-in>ashburn false - 1m15s; gamma-out>ashburn false - 1m0s")
	h.went(start, "gone", "ashburn") // of a group that the table has not
	at(92, all, "acme-in>ashburn false - 1m15s; gamma-out>ashburn false - 1m0s")
	if _, kept := h.last.Load(wayOut{"gone", "ashburn"}); kept {
		t.Error("a group that is gone is remembered")
	}
	// A site that is gone gets no calls, whatever was heard of its members before, and whatever went there just now.
	at(100, view("acme-in/dal"), "acme-in>ashburn true 12:01:40 1m15s; gamma-out>ashburn false - 1m0s")
	h.went(start.Add(105*time.Second), "gamma-out", "ashburn")
	away = true
	at(106, view("acme-in/dal"), "acme-in>ashburn false - 1m21s; gamma-out>ashburn false - 1m0s")
	away = false
	at(110, view("acme-in/dal"), "acme-in>ashburn true 12:01:50 1m21s; gamma-out>ashburn true 12:01:50 1m0s")
}

// The bound of what is remembered counts what is there: neither calls beyond it nor calls at the same moment use it up.
func TestHandoversAreBounded(t *testing.T) {
	h := newHandovers("dallas")
	now := time.Now()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for i := range maxHandovers + 100 {
				h.went(now, fmt.Sprint("g", i), "ashburn")
			}
		})
	}
	calls.Wait()
	kept := 0
	h.last.Range(func(any, any) bool { kept++; return true })
	if kept != int(h.size.Load()) || kept > maxHandovers || kept < maxHandovers-8 {
		t.Errorf("%d ways are kept, and %d counted", kept, h.size.Load())
	}
}
