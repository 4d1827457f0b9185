package cluster

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// identities issues the certificates of a lab's nodes by one authority.
func identities(t *testing.T, names ...string) map[string]*pki.Identity {
	t.Helper()
	cert, key, err := pki.NewAuthority("test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a, err := pki.ParseAuthority(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*pki.Identity{}
	for _, n := range names {
		cert, key, err := a.Issue("test", n, pki.NodeLife, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if all[n], err = pki.Parse("test", n, cert, key, a.PEM()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func secrets(t *testing.T, words ...string) *keyring.Keyring {
	t.Helper()
	var raw [][]byte
	for _, w := range words {
		raw = append(raw, []byte("a cluster secret of some length "+w))
	}
	k, err := keyring.New(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// stateOf is what a node knows of the keys of another.
func stateOf(m *member, node string) KeyState {
	for _, s := range m.KeyStates() {
		if s.Node == node {
			return s
		}
	}
	return KeyState{}
}

// A whole cluster inside TLS: consensus, proposals, records and gossip work, and go on while its key is changed. A
// node that misses the change stays out, says why, and is back when it has the key.
func TestDEC08_ClusterInsideTLSChangesItsKey(t *testing.T) {
	names := []string{"dal-1", "dal-2", "ash-1"}
	l := newLab(t, names...)
	l.keys = secrets(t, "old")
	ids := identities(t, append(names, "dal-9")...)
	nodes := map[string]*member{}
	for _, n := range names {
		cfg := l.config(n, t.TempDir())
		cfg.Identity = ids[n]
		nodes[n] = l.start(cfg)
	}
	a := nodes["dal-1"]
	l.agree(l.propose(a, "inside TLS"), nodes["dal-1"], nodes["dal-2"], nodes["ash-1"])
	everybody := func(what string, ok func(KeyState) bool) {
		t.Helper()
		eventually(t, what, func() bool {
			for _, m := range nodes {
				list := m.KeyStates()
				if len(list) != len(names) || slices.ContainsFunc(list, func(s KeyState) bool { return !ok(s) }) {
					return false
				}
			}
			return true
		})
	}
	everybody("all are up inside TLS", func(s KeyState) bool { return s.Up && s.TLS && !s.Plain && len(s.Keys) == 1 })
	lost := func() (n uint64) {
		for _, m := range nodes {
			n += m.Status().Interconnect.Lost
		}
		return n
	}
	before := lost()
	for _, step := range [][]string{{"old", "new"}, {"new", "old"}} {
		for _, n := range names {
			if err := nodes[n].SetKeys(secrets(t, step...)); err != nil {
				t.Fatal(err)
			}
		}
		everybody("all have taken the step "+fmt.Sprint(step), func(s KeyState) bool { return s.Up && slices.Equal(s.Keys, secrets(t, step...).IDs()) })
		l.agree(l.propose(a, "after "+fmt.Sprint(step)), nodes["dal-1"], nodes["dal-2"], nodes["ash-1"])
	}
	if n := lost(); n != before {
		t.Errorf("peers were lost %d times while keys changed", n-before)
	}

	// ash-1 misses the removal of nothing but has its old file put back: it is out at the next step.
	straggler := nodes["ash-1"]
	if err := straggler.SetKeys(secrets(t, "old")); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"dal-1", "dal-2"} {
		if err := nodes[n].SetKeys(secrets(t, "new")); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the straggler is out and both sides say why", func() bool {
		s, o := stateOf(straggler, "dal-1"), stateOf(a, "ash-1")
		return !s.Up && !o.Up && strings.Contains(s.Refused, "key rotation") && strings.Contains(o.Refused, "key rotation")
	})
	eventually(t, "it raises the alarm", func() bool {
		return slices.ContainsFunc(straggler.Status().Alarms, func(a Alarm) bool { return a.Name == AlarmTrust && strings.Contains(a.Detail, "dal-1") })
	})
	if err := straggler.SetKeys(secrets(t, "new")); err != nil {
		t.Fatal(err)
	}
	everybody("it is back", func(s KeyState) bool { return s.Up && s.Refused == "" && len(s.Keys) == 1 })
	eventually(t, "its alarm is cleared", func() bool {
		return !slices.ContainsFunc(straggler.Status().Alarms, func(a Alarm) bool { return a.Name == AlarmTrust })
	})
	l.agree(l.propose(straggler, "with the new key alone"), nodes["dal-1"], nodes["dal-2"], straggler)

	// Who has the cluster key and no certificate hears gossip, and is no part of anything.
	l.add("dal-9")
	cfg := l.config("dal-9", t.TempDir())
	cfg.Keys, cfg.Voters = secrets(t, "new"), cfg.Voters[:3]
	thief := l.start(cfg)
	eventually(t, "the thief is refused", func() bool { return a.RefusedBy()["plain"] > 0 })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := thief.Propose(ctx, Change{Document: []byte("forged"), Author: "thief"}); err == nil {
		t.Error("a node without a certificate changed the configuration")
	}
	if err := thief.Publish("acme/pbx-1", []byte("forged")); err != nil {
		t.Fatal(err)
	}
	if thief.Table() != nil || slices.ContainsFunc(thief.Peers(), func(p interconnect.Peer) bool { return p.Up }) {
		t.Error("a node without a certificate is in")
	}
}

// What nodes tell of their keys is read back, and nothing else is.
func TestKeyStateEncoding(t *testing.T) {
	for _, want := range []KeyState{
		{Keys: secrets(t, "a").IDs(), Plain: true},
		{
			Keys: secrets(t, "a", "b", "c").IDs(), TLS: true, Expires: time.Unix(1_900_000_000, 0),
			Certificate: "0123456789abcdef", Authorities: []string{"00112233445566ff", "ffeeddccbbaa9988"},
		},
	} {
		got, err := decodeKeyState(append(want.append(nil), "of a later version"...))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
}

func FuzzKeyState(f *testing.F) {
	f.Add(KeyState{Keys: []keyring.ID{{1}}, TLS: true, Certificate: "0123456789abcdef"}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeKeyState(b)
		if err != nil {
			return
		}
		again, err := decodeKeyState(s.append(nil))
		if err != nil || len(again.Keys) != len(s.Keys) || len(again.Authorities) != len(s.Authorities) || !again.Expires.Equal(s.Expires) {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
	})
}

func TestKeysDiffer(t *testing.T) {
	old, fresh := secrets(t, "old"), secrets(t, "new", "old")
	same := []KeyState{{Node: "a", Keys: old.IDs()}, {Node: "b", Keys: old.IDs()}, {Node: "lost"}}
	if d := KeysDiffer(same); d != "" {
		t.Errorf("nodes that are alike differ: %s", d)
	}
	d := KeysDiffer(append(same, KeyState{Node: "c", Keys: fresh.IDs()}))
	if !strings.Contains(d, "a, b uses "+old.Primary().String()) || !strings.Contains(d, "c uses "+fresh.Primary().String()) {
		t.Errorf("%s", d)
	}
}

func TestCertificateAlarm(t *testing.T) {
	id := identities(t, "dal-1")["dal-1"]
	end := id.Expires()
	for at, want := range map[time.Time]string{
		end.Add(-CertificateWarning - time.Hour): "",
		end.Add(-CertificateWarning + time.Hour): "in 29 days",
		end.Add(time.Hour):                       "ended at",
		id.Leaf().NotBefore.Add(-time.Hour):      "check the clock",
	} {
		if got := expiring(id, at); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("at %v: %q, want %q", at, got, want)
		}
	}
	if got := expiring(nil, end); got != "" {
		t.Errorf("without a certificate: %q", got)
	}
}
