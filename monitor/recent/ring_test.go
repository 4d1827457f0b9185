package recent_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/monitor/recent"
)

func record(n int) *cdr.Record {
	return &cdr.Record{CallID: fmt.Sprint(n), Kind: cdr.KindCall, Source: netip.MustParseAddrPort("192.0.2.1:5060"), CalledRaw: fmt.Sprintf("+1%d", n)}
}

func TestRingKeepsTheNewest(t *testing.T) {
	r := recent.New(3)
	if len(r.Calls()) != 0 {
		t.Error("an empty ring has calls")
	}
	for n := range 5 {
		r.Add(record(n))
	}
	got := ""
	for _, c := range r.Calls() {
		got += c.ID + " "
	}
	if got != "4 3 2 " {
		t.Errorf("kept %s", got)
	}
}

// What a peer site handed over, what has no source and what is absurdly long is
// left out.
func TestRingLeavesOut(t *testing.T) {
	r := recent.New(0)
	handed, nowhere, long := record(1), record(2), record(3)
	handed.Kind = cdr.KindHandoff
	nowhere.Source = netip.AddrPort{}
	long.CalledRaw = strings.Repeat("1", 10_000)
	for _, x := range []*cdr.Record{handed, nowhere, long} {
		r.Add(x)
	}
	if n := len(r.Calls()); n != 0 {
		t.Errorf("%d calls", n)
	}
}

func TestRingFromManyGoroutines(t *testing.T) {
	r := recent.New(100)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for n := range 1000 {
				r.Add(record(g*1000 + n))
				if n%100 == 0 {
					r.Calls()
				}
			}
		})
	}
	all.Wait()
	if n := len(r.Calls()); n != 100 {
		t.Errorf("%d calls", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	r, rec := recent.New(0), record(1)
	b.ReportAllocs()
	for b.Loop() {
		r.Add(rec)
	}
}
