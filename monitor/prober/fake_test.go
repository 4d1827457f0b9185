package prober

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

var errRefused = errors.New("connection refused")

// reply is what a fake far end does with a probe: after a time it answers with a code, refuses (-1), or never says anything (0).
type reply struct {
	code       int
	after      time.Duration
	retryAfter time.Duration
}

// world is a fake network in virtual time.
type world struct {
	t     *testing.T
	start time.Time
	p     *Prober
	mu    sync.Mutex
	jump  time.Duration

	answer  func(addr netip.AddrPort) reply
	sent    map[netip.AddrPort][]time.Duration // when each address was probed
	flying  int
	most    int
	updates []Update
	changes []string // "6s down" by time and state, of the first target
}

func newWorld(t *testing.T, edit func(*Config)) *world {
	t.Helper()
	w := &world{t: t, start: time.Now(), sent: make(map[netip.AddrPort][]time.Duration)}
	w.answer = func(netip.AddrPort) reply { return reply{code: 200, after: 20 * time.Millisecond} }
	cfg := Config{Pinger: w, OnUpdate: w.update, Spread: -1, Now: w.now}
	if edit != nil {
		edit(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.p = p
	p.Start()
	t.Cleanup(p.Stop)
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.jump)
}

func (w *world) set(f func(addr netip.AddrPort) reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

func (w *world) all(r reply) { w.set(func(netip.AddrPort) reply { return r }) }

func (w *world) Ping(ctx context.Context, t Target) (int, time.Duration, time.Duration, error) {
	w.mu.Lock()
	w.sent[t.Addr] = append(w.sent[t.Addr], time.Since(w.start))
	w.flying++
	w.most = max(w.most, w.flying)
	r := w.answer(t.Addr)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flying--
	}()
	if r.code == 0 {
		<-ctx.Done()
		return 0, 0, 0, ctx.Err()
	}
	select {
	case <-ctx.Done():
		return 0, 0, 0, ctx.Err()
	case <-time.After(r.after):
	}
	if r.code < 0 {
		return 0, 0, 0, errRefused
	}
	return r.code, r.after, r.retryAfter, nil
}

func (w *world) update(u Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.updates = append(w.updates, u)
	if u.Changed && u.Target.Member.Index == 0 {
		w.changes = append(w.changes, fmt.Sprint(time.Since(w.start), " ", u.Health.State()))
	}
}

// last is the newest update of a member.
func (w *world) last(index int) Update {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range slices.Backward(w.updates) {
		if u.Target.Member.Index == index {
			return u
		}
	}
	w.t.Fatalf("no update of member %d", index)
	return Update{}
}

// took returns and forgets the state changes so far.
func (w *world) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.changes
	w.changes = nil
	return c
}

// probes returns and forgets when an address was probed.
func (w *world) probes(addr netip.AddrPort) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sent[addr]
	delete(w.sent, addr)
	return s
}

func (w *world) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func seconds(list ...float64) (out []time.Duration) {
	for _, s := range list {
		out = append(out, time.Duration(s*float64(time.Second)))
	}
	return out
}

func addrOf(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, byte(2 + i/250), byte(1 + i%250)}), 5060)
}

// table has one group with n members.
func table(t *testing.T, n int, m trunkgroup.MonitoringSpec, edit func(*trunkgroup.Document)) *trunkgroup.Table {
	t.Helper()
	g := trunkgroup.GroupSpec{Name: "acme", Role: trunkgroup.OriginationCustomer, Numbers: []string{"+12145550100"}, Monitoring: m}
	for i := range n {
		g.Members = append(g.Members, trunkgroup.MemberSpec{ID: fmt.Sprintf("pbx-%d", i), Site: "dallas", Address: addrOf(i).String()})
	}
	d := &trunkgroup.Document{Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}}, TrunkGroups: []trunkgroup.GroupSpec{g}}
	if edit != nil {
		edit(d)
	}
	table, err := trunkgroup.Compile(d, trunkgroup.Version{Cluster: "test", Revision: 1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func all(table *trunkgroup.Table) (list []Assignment) {
	for _, m := range table.Members() {
		list = append(list, Assignment{Target: Target{m, m.Addr}})
	}
	return list
}

// every is a monitoring with its interval in seconds.
func every(profile string, interval, timeout float64) trunkgroup.MonitoringSpec {
	s := func(f float64) trunkgroup.Duration { return trunkgroup.Duration(f * float64(time.Second)) }
	return trunkgroup.MonitoringSpec{Profile: profile, Interval: s(interval), Timeout: s(timeout)}
}
