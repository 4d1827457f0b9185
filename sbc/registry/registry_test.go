package registry

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

var (
	_     trunkgroup.Registry = (*Registry)(nil)
	epoch                     = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func record(aor, id string, since time.Duration) *registrar.Record {
	r := &registrar.Record{Changed: epoch}
	r.AOR, r.ID, r.Since = aor, id, epoch.Add(since)
	r.Addr, r.Reach, r.Node, r.Site, r.Boot = netip.MustParseAddrPort("198.51.100.1:5060"), trunkgroup.ReachAny, "dal-1", "dallas", 1
	return r
}

func newRegistry() *Registry {
	return New(registrar.Node{Name: "dal-1", Site: "dallas", Boot: 1})
}

func TestR04_FirstRegisteredStandsFirst(t *testing.T) {
	r := newRegistry()
	for _, i := range []int{3, 1, 2} {
		r.Set(record("a", fmt.Sprint(i), time.Duration(i)))
	}
	r.Set(record("a", "1", 1)) // a refresh keeps its place
	var got []string
	for _, b := range r.Bindings("a") {
		got = append(got, b.ID)
	}
	if !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Error(got)
	}
	r.Remove("a", "2")
	r.Remove("a", "none")
	r.Remove("none", "2")
	if list := r.Bindings("a"); len(list) != 2 || r.Record("a", "2") != nil || r.Record("a", "3") == nil {
		t.Errorf("%d", len(list))
	}
	r.Remove("a", "1")
	r.Remove("a", "3")
	if aors, n := r.Len(); aors != 0 || n != 0 || r.Bindings("a") != nil {
		t.Errorf("%d %d", aors, n)
	}
}

// The index says what a plain map would.
func TestIndexIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRegistry()
		want := map[string]map[string]bool{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			aor, id := fmt.Sprint(rapid.IntRange(0, 150).Draw(t, "aor")), fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "id"))
			if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				r.Remove(aor, id)
				delete(want[aor], id)
				continue
			}
			r.Set(record(aor, id, 0))
			if want[aor] == nil {
				want[aor] = map[string]bool{}
			}
			want[aor][id] = true
		}
		aors, bindings := 0, 0
		for aor, ids := range want {
			if len(ids) > 0 {
				aors++
			}
			bindings += len(ids)
			if got := len(r.Bindings(aor)); got != len(ids) || got != len(r.Records(aor)) {
				t.Fatalf("%s has %d, want %d", aor, got, len(ids))
			}
			for id := range ids {
				if rec := r.Record(aor, id); rec == nil || rec.AOR != aor || rec.ID != id {
					t.Fatalf("%s %s", aor, id)
				}
			}
		}
		if a, b := r.Len(); a != aors || b != bindings {
			t.Fatalf("%d %d, want %d %d", a, b, aors, bindings)
		}
		seen := 0
		r.Each(func(string, []*registrar.Record) bool { seen++; return true })
		if seen != aors {
			t.Fatalf("%d seen of %d", seen, aors)
		}
	})
}

// Readers meet no lock and no half of a change, also while the table grows.
func TestReadersWhileItGrows(t *testing.T) {
	r := newRegistry()
	r.Set(record("stays", "1", 0))
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if b := r.Bindings("stays"); len(b) != 1 || b[0].ID != "1" {
					t.Errorf("%v", b)
					return
				}
			}
		})
	}
	for i := range 5000 {
		aor := fmt.Sprint(i)
		r.Set(record(aor, "1", 0))
		r.Set(record("stays", "1", 0))
		if i%3 == 0 {
			r.Remove(aor, "1")
		}
	}
	close(done)
	wg.Wait()
}

func TestReadingDoesNotAllocate(t *testing.T) {
	r := newRegistry()
	for i := range 1000 {
		r.Set(record(fmt.Sprintf("sip:pbx-%d@sip.example.com", i), "1", 0))
	}
	aor := fmt.Sprintf("sip:pbx-%d@sip.example.com", 77)
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range r.Bindings(aor) {
			_, _ = r.Reach(b)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkBindings(b *testing.B) {
	r := newRegistry()
	aors := make([]string, 100_000)
	for i := range aors {
		aors[i] = fmt.Sprintf("sip:pbx-%d@sip.example.com", i)
		r.Set(record(aors[i], "1", 0))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 7919) % len(aors)
		for _, x := range r.Bindings(aors[i]) {
			_, _ = r.Reach(x)
		}
	}
}
