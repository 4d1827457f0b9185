package app

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster/lease"
	"github.com/tandem-sbc/tandem/monitor/admin"
)

// limitedTo is the document of these tests with limits on the customer's group.
func limitedTo(pbx, limits string) string {
	return strings.Replace(document(pbx), "    role: origination-customer\n", "    role: origination-customer\n    limits: "+limits+"\n", 1)
}

// limit returns one limit as the node shows it.
func (b *box) limit(name, kind string) (l admin.Limit) {
	b.t.Helper()
	var list admin.LimitList
	b.get("/v1/limits", &list)
	for _, l := range list.Limits {
		if l.Name == name && l.Kind == kind {
			return l
		}
	}
	return l
}

// A limit from the document to the refusal and back, on one node.
func TestDEC10_LimitOfANode(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.4.1", limitedTo(pbx.Addr(0).String(), "{calls: 2}"))
	b.up()
	first, _ := b.hold()
	second, _ := b.hold()
	if n := b.calls(3); n != 0 {
		t.Errorf("%d calls were answered above the limit", n)
	}
	b.wait("the count", func() bool { return b.limit("acme-in", "calls").Used == 2 })
	if l := b.limit("acme-in", "calls"); l.Max != 2 || l.Share != 2 || l.Site != 2 || l.Grantor == "" || l.Note != "" {
		t.Errorf("%+v", l)
	}
	if page := b.text("/metrics"); !strings.Contains(page, `tandem_limit_in_use{kind="calls",name="acme-in",scope="group"} 2`) ||
		!strings.Contains(page, `tandem_call_rejections_total{reason="CAPACITY"} 3`) {
		t.Error("the metrics say nothing of it")
	}
	second.HangUp()
	b.wait("the end of a call", func() bool { return b.limit("acme-in", "calls").Used == 1 })
	if n := b.calls(1); n != 1 {
		t.Error("a call was refused below the limit")
	}
	first.HangUp()
	b.wait("the end of all calls", func() bool {
		return b.limit("acme-in", "calls").Used == 0 && b.limit("acme-in/pbx", "calls").Used == 0 && b.limit("carrier", "calls").Used == 0
	})
}

func TestRosterIsKept(t *testing.T) {
	dir := t.TempDir()
	r, err := openRoster(dir, "dal-1")
	if err != nil || !r.empty() {
		t.Fatalf("%v, empty %v", err, r.empty())
	}
	r.known["dal-2"] = rosterNode{Site: "dallas", Boot: 7, Seen: time.Now()}
	r.known["old"] = rosterNode{Site: "dallas", Seen: time.Now().Add(-2 * rosterKeep)}
	r.save()
	again, err := openRoster(dir, "dal-1")
	if err != nil || again.empty() {
		t.Fatalf("%v, empty %v", err, again.empty())
	}
	if list := again.list(nil, nil, time.Now()); len(list) != 1 || list[0].Name != "dal-2" || list[0].State != lease.Silent || list[0].Boot != 7 {
		t.Errorf("%+v", list)
	}
	again.refused("dal-2")
	if list := again.list(nil, nil, time.Now()); list[0].State != lease.Dead {
		t.Errorf("%+v", list)
	}
	if err := os.WriteFile(r.file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRoster(dir, "dal-1"); err == nil || !strings.Contains(err.Error(), "delete the file") {
		t.Errorf("a broken file: %v", err)
	}
}
