//go:build e2e

package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/pki"
	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// keyWorld is a cluster whose streams are inside TLS. Each node has its files in a
// directory of its own; what an operator would copy by scp is copied between these.
type keyWorld struct {
	*world
	office string // where the operator keeps key file and authority
}

const keyCluster = "keys"

// keyWorldOf sets the cluster up as docs/keys.md says.
func keyWorldOf(t *testing.T) *keyWorld {
	t.Helper()
	k := &keyWorld{office: t.TempDir()}
	k.run(t, "cluster", "ca", "init", "--cluster", keyCluster, "--dir", k.at("ca"))
	key := k.run(t, "cluster", "key")
	write(t, k.at("cluster.key"), key)
	k.world = rollingWorld(t, keyCluster, document, func(n *tandem.Node) {
		n.Trust = filepath.Join(k.office, n.Name)
		k.run(t, "cluster", "cert", n.Name, "--ca", k.at("ca"), "--dir", n.Trust)
		put(t, k.at("ca", "ca.pem"), filepath.Join(n.Trust, "ca.pem"))
		put(t, k.at("cluster.key"), filepath.Join(n.Trust, "cluster.key"))
		if n.Place == lab.Dallas1 {
			n.AuthorityKey = k.at("ca", "ca.key")
		}
	})
	return k
}

func (k *keyWorld) at(names ...string) string {
	return filepath.Join(append([]string{k.office}, names...)...)
}

// run runs a command that needs no node.
func (k *keyWorld) run(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := k.try(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (k *keyWorld) try(args ...string) ([]byte, error) {
	binary, err := tandemBinary()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("tandem %v: %w: %s", args, err, bytes.TrimSpace(problems.Bytes()))
	}
	return out, nil
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	// Whole at once, as scp to another name and mv do.
	if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, text)
}

// nodeKeys is what a node holds by its own word, as another one tells it.
type nodeKeys struct {
	Name        string   `json:"name"`
	Up          bool     `json:"up"`
	Keys        []string `json:"keys"`
	TLS         bool     `json:"tls"`
	Plain       bool     `json:"plain"`
	Certificate string   `json:"certificate"`
	Authorities []string `json:"authorities"`
	Refused     string   `json:"refused"`
}

func keysAt(n *tandem.Node) (map[string]nodeKeys, error) {
	out, err := n.Command("cluster", "key", "status", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Nodes []nodeKeys `json:"nodes"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	all := map[string]nodeKeys{}
	for _, k := range list.Nodes {
		all[k.Name] = k
	}
	return all, nil
}

// everyNode waits until each node sees of each node what ok wants.
func (k *keyWorld) everyNode(t *testing.T, what string, ok func(nodeKeys) bool) {
	t.Helper()
	eventually(t, time.Minute, what, func() error {
		for _, n := range k.Nodes {
			all, err := keysAt(n)
			if err != nil {
				return err
			}
			if len(all) != len(k.Nodes) {
				return fmt.Errorf("%s knows of %d nodes", n.Name, len(all))
			}
			for _, s := range all {
				if !ok(s) {
					return fmt.Errorf("%s sees %+v", n.Name, s)
				}
			}
		}
		return nil
	})
}

// ups is since when each node sees each other one up: a peer that was lost for a moment has a new one.
func (k *keyWorld) ups(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, n := range k.Nodes {
		out, err := n.Command("node", "list", "-o", "json")
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Nodes []struct {
				Name, Since string
				Up          bool
			}
		}
		if err := json.Unmarshal(out, &list); err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Nodes {
			if !p.Up {
				t.Errorf("%s sees %s lost", n.Name, p.Name)
			}
			all[n.Name+" of "+p.Name] = p.Since
		}
	}
	return all
}

// unmoved checks that no node lost a peer since before.
func (k *keyWorld) unmoved(t *testing.T, before map[string]string) {
	t.Helper()
	if now := k.ups(t); !maps.Equal(now, before) {
		for pair, since := range now {
			if before[pair] != since {
				t.Errorf("%s: up since %s, before since %s", pair, since, before[pair])
			}
		}
	}
}

// eachNode does a step of an operator on every node, one after the other.
func (k *keyWorld) eachNode(do func(n *tandem.Node)) {
	for _, n := range k.Nodes {
		do(n)
	}
}

// TestKeysAndCertificatesOfARunningCluster rotates the cluster key, all certificates and the authority of a
// cluster under calls: none is lost, and no node loses a peer. Then strangers knock, a node that missed the rotation says
// why it stays out, and a machine joins by a token.
func TestKeysAndCertificatesOfARunningCluster(t *testing.T) {
	k := keyWorldOf(t)
	k.simulate(t, sim.Answers(50*time.Millisecond, 200*time.Millisecond))
	k.everyNode(t, "all streams inside TLS", func(s nodeKeys) bool { return s.TLS && !s.Plain && s.Up })
	var c callers
	nodes := []sim.Node{}
	for _, n := range k.SBCs() {
		nodes = append(nodes, sim.Node{Name: n.Name, Addr: n.UDP()})
	}
	c.start(t, pstnHost, sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Name: "keys", Seed: seed(t), SetupTimeout: 20 * time.Second, Nodes: nodes, Spread: true},
		To:           []string{acmeNumber}, Rate: 5, Hold: 2 * time.Second, HoldMax: 6 * time.Second,
	})
	before := k.ups(t)
	t.Run("cluster key", k.rotateKey)
	t.Run("certificates and authority", k.rotateAuthority)
	k.unmoved(t, before)
	for _, r := range c.finish() {
		noneLost(t, "calls during the rotation", r)
		t.Logf("%d calls during the rotation, %d lost", r.Counts.Started, r.Counts.Failed)
	}
	t.Run("strangers", k.strangers)
	t.Run("a node that missed the rotation", k.straggler)
	t.Run("a machine joins by a token", k.joinByToken)
}

// rotateKey is the three steps, each copied to one node after the other.
func (k *keyWorld) rotateKey(t *testing.T) {
	old := k.ids(t)[0]
	put(t, k.at("cluster.key"), k.at("old.key"))
	put(t, dataKey(k.Node(lab.Dallas2)), k.at("old-data-key.json"))
	step := func(args ...string) {
		t.Helper()
		if _, err := k.Nodes[0].Command(append([]string{"cluster", "key"}, args...)...); err != nil {
			t.Fatal(err)
		}
		k.eachNode(func(n *tandem.Node) { put(t, k.at("cluster.key"), filepath.Join(n.Trust, "cluster.key")) })
	}
	step("add", k.at("cluster.key"))
	fresh := k.ids(t)[1]
	if _, err := k.Nodes[0].Command("cluster", "key", "remove", k.at("cluster.key"), old); err == nil {
		t.Error("the key in use was removed")
	}
	k.everyNode(t, "step 1: all hold the new key", func(s nodeKeys) bool { return slices.Equal(s.Keys, []string{old, fresh}) })
	step("use", k.at("cluster.key"), fresh)
	k.everyNode(t, "step 2: all use the new key", func(s nodeKeys) bool { return slices.Equal(s.Keys, []string{fresh, old}) })
	betaPBXs(t, lab.Ashburn, answers())
	for _, p := range []lab.Place{lab.Dallas1, lab.Dallas2} { // handed off, under the new key
		pstnCall(t, k.Node(p), betaNumber, peer.Complete(0))
	}
	step("remove", k.at("cluster.key"), old)
	k.everyNode(t, "step 3: the old key is gone", func(s nodeKeys) bool { return slices.Equal(s.Keys, []string{fresh}) && s.Up })
}

// ids are the ids of the operator's key file.
func (k *keyWorld) ids(t *testing.T) []string {
	t.Helper()
	var list []struct{ ID string }
	if err := json.Unmarshal(k.run(t, "cluster", "key", "list", k.at("cluster.key"), "-o", "json"), &list); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	return ids
}

// rotateAuthority replaces the authority and with it every certificate.
func (k *keyWorld) rotateAuthority(t *testing.T) {
	k.run(t, "cluster", "ca", "init", "--cluster", keyCluster, "--dir", k.at("ca2"))
	both := read(t, k.at("ca", "ca.pem"))
	both = append(both, read(t, k.at("ca2", "ca.pem"))...)
	k.eachNode(func(n *tandem.Node) { write(t, filepath.Join(n.Trust, "ca.pem"), both) })
	k.everyNode(t, "all trust both authorities", func(s nodeKeys) bool { return len(s.Authorities) == 2 })
	k.eachNode(func(n *tandem.Node) {
		k.run(t, "cluster", "cert", n.Name, "--ca", k.at("ca2"), "--dir", k.at("fresh"))
		put(t, k.at("fresh", n.Name+".pem"), filepath.Join(n.Trust, n.Name+".pem"))
		put(t, k.at("fresh", n.Name+".key"), filepath.Join(n.Trust, n.Name+".key"))
	})
	k.everyNode(t, "all show certificates of the new one", func(s nodeKeys) bool {
		return s.Certificate != "" && strings.HasPrefix(fingerprintOf(t, k.at("fresh", s.Name+".pem")), s.Certificate)
	})
	k.eachNode(func(n *tandem.Node) { put(t, k.at("ca2", "ca.pem"), filepath.Join(n.Trust, "ca.pem")) })
	k.everyNode(t, "only the new authority is trusted", func(s nodeKeys) bool { return len(s.Authorities) == 1 && s.Up })
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func fingerprintOf(t *testing.T, path string) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(path, strings.TrimSuffix(path, ".pem")+".key")
	if err != nil {
		t.Fatal(err)
	}
	return pki.Fingerprint(pair.Leaf)
}

// strangers knock at the interconnect of a node with all that somebody may have who was in once.
func (k *keyWorld) strangers(t *testing.T) {
	n := k.Node(lab.Dallas1)
	before, err := n.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "old")
	k.run(t, "cluster", "cert", "ashburn-1", "--ca", k.at("ca"), "--dir", old)
	foreign := filepath.Join(t.TempDir(), "foreign")
	k.run(t, "cluster", "ca", "init", "--cluster", "other", "--dir", foreign)
	k.run(t, "cluster", "cert", "ashburn-1", "--ca", foreign, "--dir", foreign)
	for name, config := range map[string]*tls.Config{
		"no TLS":                       nil,
		"no certificate":               {InsecureSkipVerify: true, NextProtos: []string{pki.ProtocolNode}},
		"the protocol of newcomers":    {InsecureSkipVerify: true, NextProtos: []string{pki.ProtocolJoin}},
		"a certificate of the old CA":  holder(t, filepath.Join(old, "ashburn-1")),
		"a certificate of another one": holder(t, filepath.Join(foreign, "ashburn-1")),
	} {
		if got := knock(t, n, config); len(got) > 0 {
			t.Errorf("%s: the node said %q", name, got)
		}
	}
	after, err := n.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Sum("tandem_interconnect_refused_total") - before.Sum("tandem_interconnect_refused_total"); got < 5 {
		t.Errorf("%v refusals were counted, want 5", got)
	}
	k.everyNode(t, "the cluster is what it was", func(s nodeKeys) bool { return s.Up && s.Refused == "" })
}

func holder(t *testing.T, path string) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(path+".pem", path+".key")
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}, NextProtos: []string{pki.ProtocolNode}}
}

// knock opens a stream to a node's interconnect, says something and returns what comes back.
func knock(t *testing.T, n *tandem.Node, config *tls.Config) []byte {
	t.Helper()
	var c net.Conn
	err := theLab(t).Namespace(lab.Outside).Do(func() (err error) {
		c, err = net.DialTimeout("tcp", n.Interconnect(), 5*time.Second)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if config != nil {
		c = tls.Client(c, config)
	}
	_, _ = c.Write([]byte("\x00\x10TNDM0123456789AB")) // it may be refused before
	got, _ := io.ReadAll(c)
	return bytes.TrimPrefix(got, []byte("\x15\x03\x03\x00\x02\x02")) // an alert of TLS tells nothing
}

// dataKey is the file of a node's data key, which follows the cluster key.
func dataKey(n *tandem.Node) string { return filepath.Join(n.DataDir(), "data-key.json") }

// straggler starts a node as it was before the rotation: with the key file of then, and the data key wrapped as then.
func (k *keyWorld) straggler(t *testing.T) {
	n, other := k.Node(lab.Dallas2), k.Node(lab.Ashburn1)
	n.Stop()
	put(t, k.at("old.key"), filepath.Join(n.Trust, "cluster.key"))
	put(t, k.at("old-data-key.json"), dataKey(n))
	if err := n.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "both sides say why it stays out", func() error {
		for from, to := range map[*tandem.Node]*tandem.Node{n: other, other: n} {
			all, err := keysAt(from)
			if err != nil {
				return err
			}
			if s := all[to.Name]; s.Up || !strings.Contains(s.Refused, "key rotation") {
				return fmt.Errorf("%s says of %s: %+v", from.Name, to.Name, s)
			}
		}
		out, err := n.Command("node", "list", "-o", "json")
		if err == nil && !bytes.Contains(out, []byte("cluster_trust")) {
			err = errNotYet
		}
		return err
	})
	pstnCall(t, n, acmeNumber, peer.Complete(0)) // it routes from what it knows
	put(t, k.at("cluster.key"), filepath.Join(n.Trust, "cluster.key"))
	k.everyNode(t, "it is back with the new file, without a restart", func(s nodeKeys) bool { return s.Up && s.Refused == "" && len(s.Keys) == 1 })
}

// joinByToken gives a machine that lost everything its place back.
func (k *keyWorld) joinByToken(t *testing.T) {
	issuer, n := k.Node(lab.Dallas1), k.Node(lab.Ashburn2)
	// The authority changed: the node that admits others is given the new one's key.
	issuer.Stop()
	issuer.AuthorityKey = k.at("ca2", "ca.key")
	if err := errors.Join(issuer.Write(), issuer.Start()); err != nil {
		t.Fatal(err)
	}
	k.settled(t)
	k.everyNode(t, "all are up again", func(s nodeKeys) bool { return s.Up })
	if _, err := issuer.Command("cluster", "token", n.Name); err == nil {
		t.Error("a token was made for a node that is up")
	}
	n.Kill()
	if err := os.RemoveAll(n.DataDir()); err != nil {
		t.Fatal(err)
	}
	var token []byte
	eventually(t, 20*time.Second, "a token", func() (err error) {
		token, err = issuer.Command("cluster", "token", n.Name)
		return err
	})
	write(t, k.at("token"), token)
	fresh := filepath.Join(t.TempDir(), "machine")
	if err := k.join(t, n, k.at("token"), fresh); err != nil {
		t.Fatal(err)
	}
	if err := k.join(t, n, k.at("token"), filepath.Join(t.TempDir(), "again")); err == nil || !strings.Contains(err.Error(), "used before") {
		t.Errorf("a second use: %v", err)
	}
	n.Trust = fresh
	if err := errors.Join(n.Write(), n.Start()); err != nil {
		t.Fatal(err)
	}
	k.settled(t)
	k.everyNode(t, "the machine is in", func(s nodeKeys) bool { return s.Up && s.TLS && s.Refused == "" })
	pstnCall(t, n, acmeNumber, peer.Complete(0))
}

// join uses a token on a node's machine.
func (k *keyWorld) join(t *testing.T, n *tandem.Node, token, dir string) error {
	t.Helper()
	return theLab(t).Namespace(n.Place).Do(func() error {
		_, err := k.try("cluster", "join", token, "--dir", dir)
		return err
	})
}
