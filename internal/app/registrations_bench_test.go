package app

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// bindingOf is what a PBX of usual verbosity registers.
func bindingOf(i int, self registrar.Node, now time.Time) *registrar.Record {
	return &registrar.Record{
		Binding: trunkgroup.Binding{
			AOR: fmt.Sprintf("sip:pbx-%d@sip.example.com", i), ID: fmt.Sprintf("%016x", i), Contact: fmt.Sprintf("sip:pbx-%d@10.%d.%d.7:5060", i, i>>8&255, i&255),
			Transport: trunkgroup.UDP, Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}), 5060),
			Reach: trunkgroup.ReachAny, Node: self.Name, Site: self.Site, Boot: self.Boot, Local: addrPort("127.88.42.1:5060"),
			Q: 1000, Sessions: -1, Agent: "Asterisk PBX 20.5.0", User: fmt.Sprintf("pbx-%d", i), Since: now, Expires: now.Add(time.Hour),
		},
		CallID: uint64(i), CSeq: 1, Changed: now,
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkBindingsOfFourNodes registers b.N bindings at two nodes of two sites in
// turn and prints what each costs at each node, how long after the last all four
// know all, and how long a node takes after a restart to know them again:
//
//	go test -run '^$' -bench BindingsOfFourNodes -benchtime 100000x ./internal/app
func BenchmarkBindingsOfFourNodes(b *testing.B) {
	boxes := newClusterOf(b, "127.88.42", registering(1), 4)
	for _, n := range boxes {
		n.start()
	}
	defer func() {
		for _, n := range boxes {
			n.stop()
		}
	}()
	know := func(boxes ...*box) {
		for _, n := range boxes {
			n.wait("all bindings", func() bool {
				_, got := n.app.regs.index.Len()
				return got == b.N
			})
		}
	}
	for _, n := range boxes {
		n.wait("the other nodes", func() bool {
			up := 0
			for _, p := range n.app.node.Peers() {
				if p.Up {
					up++
				}
			}
			return up == 3 && n.ask("GET", "/readyz", nil, nil) == 200
		})
	}
	before := heap()
	b.ResetTimer()
	for done := 0; done < b.N; {
		regs := boxes[2*(done/64%2)].app.regs
		regs.Update(func(now time.Time, tx sbc.BindingChanges) {
			for end := min(done+64, b.N); done < end; done++ {
				if err := tx.Put(bindingOf(done, regs.index.Self(), now)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.StopTimer()
	last := time.Now()
	know(boxes...)
	converged := time.Since(last)
	b.ReportMetric(converged.Seconds(), "s-to-converge")
	b.ReportMetric((float64(heap())-float64(before))/float64(b.N)/4, "B/binding/node")
	boxes[1].stop()
	boxes[1].start()
	again := time.Now()
	know(boxes[1])
	b.ReportMetric(time.Since(again).Seconds(), "s-to-resync")
}
