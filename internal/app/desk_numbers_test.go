package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// Numbers that only the number table knows route calls; a list is taken whole or not at all; what the
// configuration must not leave behind is refused; all of it is there after a restart.
func TestNumbersRouteCalls(t *testing.T) {
	pbx := startPBX(t)
	text := strings.Replace(document(pbx.Addr(0).String()), `    numbers: ["+1214555*"]`+"\n", "", 1)
	b := newBox(t, "127.88.1.71", text)
	b.start()
	defer func() { b.stop() }()
	b.wait("the node is ready", func() bool { return b.ask(http.MethodGet, "/readyz", nil, nil) == http.StatusOK })
	b.wait("the leader", func() bool {
		var list admin.NodeList
		return b.ask(http.MethodGet, "/v1/nodes", nil, &list) == http.StatusOK && list.Leader != ""
	})
	if n := b.calls(3); n != 0 {
		t.Errorf("%d calls to a number of nobody are answered", n)
	}
	post := func(path, body string, into any) int {
		return b.ask(http.MethodPost, path, strings.NewReader(body), into)
	}
	var done admin.NumbersApplied
	if code := post("/v1/numbers", `{"rows": [{"pattern": "+1214555*", "group": "acme-in"}], "author": "ann", "reason": "order"}`, &done); code != http.StatusOK || done.Edition != 1 || done.Set != 1 {
		t.Fatalf("%d, %+v", code, done)
	}
	b.wait("the PBX is seen", func() bool { return strings.Contains(b.text("/metrics"), `tandem_trunk_member_up{member="pbx"`) })
	if n := b.calls(5); n != 5 {
		t.Errorf("%d of 5 calls are answered", n)
	}
	for body, want := range map[string]int{
		`{"rows": [{"pattern": "12145", "group": "acme-in"}]}`:  http.StatusUnprocessableEntity,
		`{"rows": [{"pattern": "+12145", "group": "carrier"}]}`: http.StatusUnprocessableEntity,
		`{"rows": []}`: http.StatusUnprocessableEntity,
		`{"rows": [{"pattern": "+12145", "group": "acme-in"}], "expect_edition": 7}`: http.StatusConflict,
	} {
		if code := post("/v1/numbers", body, nil); code != want {
			t.Errorf("%s: %d, want %d", body, code, want)
		}
	}
	if code := post("/v1/numbers/import", "number,group\n+1214,acme-in\n+12x,acme-in\n+1215,nobody\n", nil); code != http.StatusUnprocessableEntity {
		t.Errorf("a list with faults: %d", code)
	}
	// A list that came empty, like one that could not be written, takes nothing out.
	for _, list := range []string{"", "number,group\n", "# nothing\n"} {
		if code := post("/v1/numbers/import?replace_group=acme-in", list, nil); code != http.StatusUnprocessableEntity {
			t.Errorf("an empty list in place of a group's numbers: %d", code)
		}
	}
	var list strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&list, "+4930%06d,acme-in\n", i)
	}
	list.WriteString("+1214555*,-\n+12145550100,acme-in\n")
	if code := post("/v1/numbers/import?dry_run=true", list.String(), &done); code != http.StatusOK || done.Set != 30001 || done.Removed != 1 || !done.DryRun {
		t.Errorf("dry run: %d, %+v", code, done)
	}
	if code := post("/v1/numbers/import?author=ann&reason=bulk", list.String(), &done); code != http.StatusOK || done.Edition != 2 {
		t.Errorf("import: %d, %+v", code, done)
	}
	var o admin.NumberOwner
	if code := b.ask(http.MethodGet, "/v1/numbers/owner?number=%2B4930000077", nil, &o); code != http.StatusOK || o.Group != "acme-in" || !o.InTable {
		t.Errorf("owner: %d, %+v", code, o)
	}
	var page admin.NumberPage
	if code := b.ask(http.MethodGet, "/v1/numbers/list?limit=2&after=%2B4930000077", nil, &page); code != http.StatusOK || len(page.Numbers) != 2 || page.Next != "+4930000079" {
		t.Errorf("page: %d, %+v", code, page)
	}
	if n := strings.Count(b.text("/v1/numbers/export?group=acme-in"), ",acme-in\n"); n != 30001 {
		t.Errorf("%d numbers in the export", n)
	}
	if code := b.ask(http.MethodPost, "/v1/config", strings.NewReader(strings.ReplaceAll(text, "acme-in", "other")), nil); code != http.StatusUnprocessableEntity {
		t.Errorf("a document without the group of 30001 numbers: %d", code)
	}
	if page := b.text("/metrics"); !strings.Contains(page, "tandem_numbers 30001") || !strings.Contains(page, `tandem_number_imports_total{result="applied"} 1`) {
		t.Error("the metrics do not show the numbers")
	}
	var h admin.NumberHistory
	if b.ask(http.MethodGet, "/v1/numbers/history", nil, &h); len(h.Changes) != 2 || h.Changes[1].Author != "ann" || !h.Changes[1].Import {
		t.Errorf("history: %+v", h)
	}
	b.stop()
	b.start()
	var s admin.NumberSummary
	if b.ask(http.MethodGet, "/v1/numbers", nil, &s); s.Edition != 2 || s.Numbers != 30001 || s.Groups["acme-in"] != 30001 {
		t.Errorf("after a restart: %+v", s)
	}
	if n := b.calls(5); n != 5 {
		t.Errorf("after a restart %d of 5 calls are answered", n)
	}
}
