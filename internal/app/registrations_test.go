package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// registering is a document with members that register, pbx-0 and so on, each
// with its own digest user.
func registering(members int) string {
	var b strings.Builder
	b.WriteString("cluster: test\nsites: [{name: dallas, peers: [ashburn]}, {name: ashburn, peers: [dallas]}]\ntrunk_groups:\n" +
		"  - name: acme-in\n    role: origination-customer\n    numbers: [\"+1214555*\"]\n    members:\n")
	for i := range members {
		fmt.Fprintf(&b, "      - {id: pbx-%d, registration: {aor: \"sip:pbx-%d@sip.example.com\", nat_expires: 10m}}\n", i, i)
	}
	b.WriteString("    credentials:\n")
	for i := range members {
		sum := sha256.Sum256(fmt.Appendf(nil, "pbx-%d:sip.example.com:secret", i))
		fmt.Fprintf(&b, "      - {username: pbx-%d, realm: sip.example.com, ha1_sha256: %s}\n", i, hex.EncodeToString(sum[:]))
	}
	b.WriteString("  - name: carrier\n    role: pstn-provider\n    sources: [{ip: 127.0.0.1}]\n" +
		"    members: [{id: gw, site: dallas, address: \"192.0.2.1:5060\"}, {id: gw2, site: ashburn, address: \"192.0.2.2:5060\"}]\n")
	return b.String()
}

// newClusterOf makes nodes n1, n2 and so on; all but the first two stand in ashburn.
func newClusterOf(t testing.TB, net string, document string, n int) []*box {
	t.Helper()
	site := func(i int) string {
		if i < 2 {
			return "dallas"
		}
		return "ashburn"
	}
	t.Cleanup(func() { probesEnd(t) })
	var boxes []*box
	for i := range n {
		ip := fmt.Sprintf("%s.%d", net, i+1)
		b := &box{t: t, dir: t.TempDir(), ip: ip}
		b.write("cluster.yaml", document)
		b.write("cluster.key", strings.Repeat("ab", 32))
		var voters, peers []string
		for j := range n {
			at := fmt.Sprintf("%s.%d", net, j+1)
			voters = append(voters, fmt.Sprintf("{name: n%d, address: \"%s:7950\"}", j+1, at))
			if j != i {
				peers = append(peers, fmt.Sprintf("    - {name: n%d, site: %s, gossip: \"%s:7946\", interconnect: \"%s:7950\"}\n", j+1, site(j), at, at))
			}
		}
		b.file = b.write("node.yaml", fmt.Sprintf(`
name: n%[1]d
site: %[2]s
data_dir: %[3]s/data
listeners: [{name: udp, transport: udp, address: "%[4]s:5060"}, {name: tcp, transport: tcp, address: "%[4]s:5060"}]
interconnect: {address: "%[4]s:7950"}
cluster:
  id: test
  key_file: %[3]s/cluster.key
  document: %[3]s/cluster.yaml
  gossip: {address: "%[4]s:7946"}
  raft: {voters: [%[5]s]}
  peers:
%[6]sadmin: {address: "unix:%[3]s/admin.sock"}
cdr: {path: %[3]s/data/records/calls.jsonl}
sip: {realm: sip.example.com}
`, i+1, site(i), b.dir, ip, strings.Join(voters, ", "), strings.Join(peers, "")))
		boxes = append(boxes, b)
	}
	return boxes
}

// ready waits until nodes are: their first election takes its time on a machine
// that is busy.
func ready(boxes ...*box) {
	for _, b := range boxes {
		b.t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		end := time.After(time.Minute)
		for b.ask("GET", "/readyz", nil, nil) != 200 {
			select {
			case <-end:
				b.t.Fatalf("%s is not ready: %s", b.ip, b.text("/readyz"))
			case <-tick.C:
			}
		}
		tick.Stop()
	}
}

func (b *box) register(pbxs int, nodes ...*box) (*sim.Registrants, sim.RegistrantsReport) {
	b.t.Helper()
	cfg := sim.RegistrantsConfig{Locals: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	for _, n := range nodes {
		cfg.Nodes = append(cfg.Nodes, addrPort(n.ip+":5060"))
	}
	for i := range pbxs {
		user := fmt.Sprintf("pbx-%d", i)
		cfg.PBXs = append(cfg.PBXs, sim.Registrant{
			AOR: "sip:" + user + "@sip.example.com", Credentials: sim.Credentials{Username: user, Password: "secret"},
		})
	}
	r, err := sim.NewRegistrants(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = r.Close() })
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	return r, r.Run(ctx)
}

// DEC-15: a registration at one node is known at all nodes of both sites, before
// and after its node dies, and at a node that comes later.
func TestDEC15_RegistrationIsKnownEverywhere(t *testing.T) {
	const pbxs = 20
	boxes := newClusterOf(t, "127.88.40", registering(pbxs), 3)
	for _, b := range boxes[:2] {
		b.start()
	}
	defer boxes[1].stop()
	ready(boxes[:2]...)
	r, report := boxes[0].register(pbxs, boxes[0])
	if report.Registered != pbxs {
		t.Fatalf("%+v", report)
	}
	knows := func(b *box) {
		b.wait("the bindings", func() bool {
			aors, bindings := b.app.regs.index.Len()
			return aors == pbxs && bindings == pbxs
		})
		list := b.app.regs.index.Bindings("sip:pbx-3@sip.example.com")
		if len(list) != 1 || list[0].Addr != r.Addr(3) || list[0].Reach != trunkgroup.ReachAny || list[0].Node != "n1" || list[0].Site != "dallas" {
			t.Errorf("%+v", list)
		}
		b.wait("a view over the index", func() bool {
			board := b.app.watch.monitor.Board()
			return board != nil && board.View.Registry == trunkgroup.Registry(b.app.regs.index)
		})
	}
	knows(boxes[0])
	knows(boxes[1])
	boxes[2].start()
	defer boxes[2].stop()
	knows(boxes[2])
	boxes[0].stop()
	for _, b := range boxes[1:] {
		b.wait("the loss of the node", func() bool {
			site, cause := b.app.regs.index.Reach(b.app.regs.index.Bindings("sip:pbx-3@sip.example.com")[0])
			return cause == "" && (site == "dallas" || b == boxes[2])
		})
		knows(b)
	}
}
