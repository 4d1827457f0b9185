package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// state is what a node's index says, and whether its soft state says the same.
func (b *box) state() (list []string, same bool) {
	regs := b.app.regs
	var stored []string
	regs.soft.Do(func(_ time.Time, store *soft.Store) {
		regs.index.Each(func(_ string, of []*registrar.Record) bool {
			for _, r := range of {
				list = append(list, fmt.Sprintf("%s %s %d", r.ID, r.Node, r.CSeq))
			}
			return true
		})
		store.Each(soft.KindBinding, func(e soft.Entry) bool {
			if r, err := registrar.ParseRecord(metaOf(&e), e.Value); err == nil {
				stored = append(stored, fmt.Sprintf("%s %s %d", r.ID, r.Node, r.CSeq))
			}
			return true
		})
	})
	slices.Sort(list)
	slices.Sort(stored)
	return list, slices.Equal(list, stored)
}

// DEC-15: three nodes that refresh and remove the same bindings at the same time
// agree in the end, and no index differs from the soft state behind it.
func TestDEC15_NodesAgreeOnBindings(t *testing.T) {
	boxes := newClusterOf(t, "127.88.44", registering(1), 3)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	ready(boxes...)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var wg sync.WaitGroup
	for n, b := range boxes {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		wg.Go(func() {
			for i := range 400 {
				b.app.regs.Update(func(now time.Time, tx sbc.BindingChanges) {
					r := bindingOf(rng.IntN(20), b.app.regs.index.Self(), now)
					if r.CSeq = uint32(1000*n + i); rng.IntN(3) == 0 {
						tx.Remove(r)
					} else if err := tx.Put(r); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
	wg.Wait()
	boxes[0].wait("agreement", func() bool {
		first, ok := boxes[0].state()
		for _, b := range boxes[1:] {
			list, same := b.state()
			ok = ok && same && slices.Equal(first, list)
		}
		return ok
	})
	if list, _ := boxes[0].state(); len(list) == 0 {
		t.Error("nothing is left to agree on")
	}
}

// A binding that is not refreshed ends at all nodes by itself.
func TestDEC15_BindingsExpireEverywhere(t *testing.T) {
	doc := strings.ReplaceAll(registering(1), "nat_expires: 10m", "min_expires: 1s")
	boxes := newClusterOf(t, "127.88.45", doc, 2)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	ready(boxes...)
	r, err := sim.NewRegistrants(sim.RegistrantsConfig{
		Nodes: []netip.AddrPort{addrPort(boxes[0].ip + ":5060")}, Locals: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, Expires: 3 * time.Second,
		PBXs: []sim.Registrant{{AOR: "sip:pbx-0@sip.example.com", Credentials: sim.Credentials{Username: "pbx-0", Password: "secret"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if report := r.Run(ctx); report.Registered != 1 {
		t.Fatalf("%+v", report)
	}
	for _, want := range []int{1, 0} {
		for _, b := range boxes {
			b.wait("the binding to come and to go", func() bool { return len(b.app.regs.index.Bindings("sip:pbx-0@sip.example.com")) == want })
		}
	}
}
