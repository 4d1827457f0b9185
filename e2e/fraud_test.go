//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// boundedDocument is the shared document with bounds on what acme's calls may do.
func boundedDocument() []byte {
	const fraud = `{contact: "https://example.com/blocked", destinations: [{name: capital, prefixes: ["+1202*"], calls: {day: 2}}]}`
	return []byte(strings.NewReplacer(
		"customers: [", "customers: [{name: acme, fraud: "+fraud+"}, ",
		"  - name: acme-out\n", "  - name: acme-out\n    customer: acme\n",
	).Replace(fill(document)))
}

// TestFraudBoundHoldsOverAllNodes: two calls through one node use the bound up;
// nodes of both sites refuse the third.
func TestFraudBoundHoldsOverAllNodes(t *testing.T) {
	w := theWorld(t)
	old, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.restoreDocument(t) })
	if err := apply(w.Nodes[0], boundedDocument()); err != nil {
		t.Fatal(err)
	}
	w.equalTables(t, old)
	first := w.Node(lab.Dallas2)
	for range 2 {
		call(t, fromAcme(first, peer.Complete(0)))
	}
	counted := func(n *tandem.Node) error {
		m, err := n.Metrics()
		if err != nil {
			return err
		}
		if calls := m.Sum("tandem_fraud_calls", "customer=acme", "rule=capital", "window=day"); calls != 2 {
			return fmt.Errorf("%s has counted %v calls", n.Name, calls)
		}
		return nil
	}
	refused := func(n *tandem.Node) {
		t.Helper()
		eventually(t, 10*time.Second, "the others know of the calls", func() error { return counted(n) })
		told := false
		for _, m := range peer.Responses(call(t, fromAcme(n, peer.Fails(603))), "INVITE") {
			told = told || m.Code() == 603 && strings.Contains(m.Header("Reason"), "https://example.com/blocked")
		}
		if !told {
			t.Errorf("%s: no 603 names whom to ask", n.Name)
		}
	}
	refused(first)
	refused(w.Node(lab.Dallas1))
	refused(w.Node(lab.Ashburn1))
	text, err := w.Node(lab.Ashburn1).Command("fraud", "list", "--passed")
	if err != nil || !strings.Contains(string(text), "calls.day: block 1 since") {
		t.Errorf("%v\n%s", err, text)
	}
}
