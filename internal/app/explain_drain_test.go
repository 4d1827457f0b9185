package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// told tells whether explain has a step of a name with these words.
func (b *box) told(site, name, words string) bool {
	b.t.Helper()
	e, err := b.app.desk.Explain(b.t.Context(), admin.Question{Called: "+12145550100", Source: "127.0.0.1:5060", Site: site})
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.ContainsFunc(e.Steps, func(s trunkgroup.Step) bool { return s.Name == name && strings.Contains(s.Text, words) })
}

// Explain says that the site where a call enters is drained, or the node that is asked,
// and that the site is to which the call would be handed over.
func TestD07_ExplainSaysWhatIsDrained(t *testing.T) {
	boxes := newClusterOf(t, "127.88.62", twoSites, 3)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	dallas, ashburn := boxes[0], boxes[2]
	for _, b := range boxes {
		b.wait("the cluster", func() bool { return b.peersUp() == 2 && b.app.watch.monitor.Board() != nil })
	}
	if dallas.told("", "drain", "") || dallas.told("ashburn", "drain", "") {
		t.Error("a drain is told of that is none")
	}
	if code := dallas.order("/v1/sites/dallas/drain", `{"drain":true,"author":"ann","reason":"flood"}`, nil); code != http.StatusOK {
		t.Fatal(code)
	}
	for _, b := range []*box{dallas, ashburn} {
		b.wait("the drain of the site", func() bool {
			return b.told("dallas", "drain", "dallas is drained since ") && b.told("dallas", "drain", "by ann until ")
		})
	}
	if ashburn.told("", "drain", "") || !ashburn.told("", "hand-off", "dallas is drained since ") {
		t.Error("Ashburn is told to be drained, or nothing of Dallas where a hand-off would go")
	}
	if code := ashburn.order("/v1/drain", `{"author":"bob","reason":"new kernel","stay":true}`, nil); code != http.StatusOK {
		t.Fatal(code)
	}
	if !ashburn.told("", "drain", "node n3 drains: ") || !ashburn.told("", "drain", "by bob") {
		t.Error("explain says nothing of the node's drain")
	}
	if dallas.told("", "drain", "node") || ashburn.told("dallas", "drain", "node") {
		t.Error("the drain of a node is told for a call that does not enter there")
	}
}
