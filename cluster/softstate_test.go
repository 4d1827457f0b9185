package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
)

// softMember is a node with soft state.
type softMember struct {
	*member
	soft *Soft
}

func (l *lab) startSoft(cfg Config) *softMember {
	l.t.Helper()
	var s *Soft
	m := l.startWith(cfg, func(n *Node) {
		s = NewSoft(n, SoftConfig{})
		s.Start()
	})
	l.t.Cleanup(s.Stop)
	return &softMember{m, s}
}

func (m *softMember) put(t *testing.T, kind soft.Kind, key, value string, ttl time.Duration) {
	t.Helper()
	m.soft.Do(func(now time.Time, st *soft.Store) {
		if err := st.Put(now, kind, key, []byte(value), ttl); err != nil {
			t.Errorf("%s: put %s: %v", m.cfg.Node, key, err)
		}
	})
}

func (m *softMember) count(kind soft.Kind) (n int) {
	m.soft.Do(func(_ time.Time, st *soft.Store) { n = st.Stats().Entries[kind] })
	return n
}

func (m *softMember) value(kind soft.Kind, key string) (v string) {
	m.soft.Do(func(_ time.Time, st *soft.Store) {
		if e, ok := st.Get(kind, key); ok {
			v = string(e.Value)
		}
	})
	return v
}

// DEC-15: 100,000 entries reach the other nodes within seconds, over real streams, and
// a node that comes later has them as fast.
func TestDEC15_HundredThousandEntriesOverRealStreams(t *testing.T) {
	long(t)
	const entries = 100_000
	l := newLab(t, "dal-1", "dal-2", "ash-1")
	var nodes []*softMember
	for _, name := range l.names {
		nodes = append(nodes, l.startSoft(l.config(name, t.TempDir())))
	}
	for _, m := range nodes {
		eventually(t, m.cfg.Node+" sees all", func() bool {
			up := 0
			for _, p := range m.Peers() {
				if p.Up {
					up++
				}
			}
			return up == 2
		})
	}
	begun := time.Now()
	for at := 0; at < entries; at += 1000 {
		nodes[0].soft.Do(func(now time.Time, st *soft.Store) {
			for i := range 1000 {
				key := fmt.Sprintf("sip:user-%d@example.com", at+i)
				if err := st.Put(now, soft.KindBinding, key, []byte("sip:user@192.0.2.7:5060;transport=udp"), time.Hour); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for _, m := range nodes {
		eventually(t, m.cfg.Node+" has all entries", func() bool { return m.count(soft.KindBinding) == entries })
	}
	t.Logf("%d entries at three nodes after %v", entries, time.Since(begun))
	for _, m := range nodes {
		if full, refused := m.soft.Dropped(); full+refused != 0 {
			t.Errorf("%s dropped %d and refused %d frames", m.cfg.Node, full, refused)
		}
		m.soft.Do(func(_ time.Time, st *soft.Store) {
			if s := st.Stats(); s.Refused+s.Full+s.Unknown != 0 {
				t.Errorf("%s: %+v", m.cfg.Node, s)
			}
		})
	}
}

// DEC-15 in virtual time: what is put during a cut is on the other side seconds after
// the heal, and what the other side held of a lost owner is what the rules say.
func TestDEC15_SoftStateAcrossACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := map[string]*softMember{}
		for _, n := range v.names {
			if n != "wit-1" {
				nodes[n] = v.startSoft(v.config(n, v.t.TempDir()))
			}
		}
		time.Sleep(5 * time.Second)
		dal, ash := nodes["dal-1"], nodes["ash-1"]
		dal.put(t, soft.KindCall, "call-1", "up", 0)
		dal.put(t, soft.KindCounter, "acme", "3", 0)
		ash.put(t, soft.KindBinding, "aor", "ashburn", time.Hour)
		time.Sleep(200 * time.Millisecond)
		if ash.value(soft.KindCall, "call-1") != "up" || nodes["dal-2"].value(soft.KindBinding, "aor") != "ashburn" {
			t.Fatal("entries did not cross in 200 ms")
		}

		v.isolate(true)
		time.Sleep(10 * time.Second)
		if ash.value(soft.KindCall, "call-1") != "up" || ash.value(soft.KindCounter, "acme") != "" {
			t.Error("calls stay for their use, counters go")
		}
		dal.put(t, soft.KindCall, "call-2", "up", 0)
		dal.put(t, soft.KindBinding, "aor", "dallas", time.Hour)
		time.Sleep(time.Second)

		v.isolate(false)
		begun := time.Now()
		for ash.value(soft.KindCall, "call-2") == "" {
			time.Sleep(10 * time.Millisecond)
			if time.Since(begun) > time.Minute {
				t.Fatal("the cut side does not catch up")
			}
		}
		t.Logf("caught up %v after the heal", time.Since(begun))
		// Other pairs of nodes may find each other with their next dial only.
		time.Sleep(4 * time.Second)
		for name, m := range nodes {
			if m.value(soft.KindCounter, "acme") != "3" || m.value(soft.KindBinding, "aor") != "dallas" || m.count(soft.KindCall) != 2 {
				t.Errorf("%s has counter %q, binding %q, %d calls", name, m.value(soft.KindCounter, "acme"), m.value(soft.KindBinding, "aor"), m.count(soft.KindCall))
			}
		}
		for _, m := range nodes {
			m.soft.Stop()
		}
		v.end(dal.member, nodes["dal-2"].member, ash.member, nodes["ash-2"].member)
	})
}
