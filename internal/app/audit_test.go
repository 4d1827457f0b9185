package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/audit"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// entries are those of the node's trail that are about something.
func (b *box) entries(subject string) []audit.Entry {
	b.t.Helper()
	var list admin.AuditList
	if code := b.ask(http.MethodGet, "/v1/audit?subject="+subject, nil, &list); code != http.StatusOK {
		b.t.Fatalf("the audit trail: %d", code)
	}
	return list.Entries
}

// Each node writes down what it was asked for, what was passed to it, and what it
// heard of, with who and why; a refusal is there with its reason, and no document.
func TestAuditOfAllNodes(t *testing.T) {
	boxes := newClusterOf(t, "127.88.45", twoSites, 3)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	for _, b := range boxes {
		b.wait("the cluster", func() bool { return b.peersUp() == 2 && b.app.watch.monitor.Board() != nil })
	}
	asked, passed, heard := boxes[2], boxes[0], boxes[1]
	if code := asked.order("/v1/members/acme-in/d1/state", `{"state":"draining","author":"ann","reason":"new card"}`, nil); code != http.StatusOK {
		t.Fatal(code)
	}
	if code := asked.order("/v1/members/acme-in/d9/state", `{"state":"disabled","author":"bob","reason":"typo"}`, nil); code != http.StatusNotFound {
		t.Fatal(code)
	}
	for _, b := range boxes {
		b.wait("the order", func() bool { return b.sees("acme-in/d1", trunkgroup.Draining) && len(b.entries("acme-in/d1")) > 0 })
	}
	for _, x := range []struct {
		b    *box
		want audit.Entry
	}{
		{asked, audit.Entry{Via: "api", Author: "ann", Verb: "member state", Subject: "acme-in/d1", Detail: "state draining", Reason: "new card", Outcome: audit.Done}},
		{passed, audit.Entry{Via: "node n3", Author: "ann", Verb: "order: state", Subject: "acme-in/d1", Detail: "state draining", Reason: "new card", Outcome: audit.Done}},
		{heard, audit.Entry{Via: "node n1", Author: "ann", Verb: "knob", Subject: "acme-in/d1", Detail: "draining", Reason: "new card", Outcome: audit.Heard}},
	} {
		found := false
		list := x.b.entries("acme-in/d1")
		for _, e := range list {
			x.want.Time, x.want.Node = e.Time, e.Node
			found = found || e == x.want
		}
		if !found {
			t.Errorf("%s has %+v and not %+v", x.b.ip, list, x.want)
		}
	}
	asked.wait("the refusal", func() bool {
		list := asked.entries("acme-in/d9")
		return len(list) == 1 && list[0].Author == "bob" && strings.HasPrefix(list[0].Outcome, "refused: ") && strings.Contains(list[0].Outcome, "no such member")
	})
	next := strings.Replace(twoSites, "192.0.2.12:5060", "192.0.2.22:5060", 1)
	if code := asked.ask(http.MethodPost, "/v1/config?author=eve&reason=moved", strings.NewReader(next), nil); code != http.StatusOK {
		t.Fatal(code)
	}
	for _, b := range boxes {
		b.wait("the configuration", func() bool {
			for _, e := range b.entries("revision%201.2") {
				if e.Author == "eve" && e.Reason == "moved" && e.Verb == "configuration in force" {
					return true
				}
			}
			return false
		})
		for _, e := range b.entries("") {
			if strings.Contains(e.Detail+e.Subject+e.Reason+e.Outcome, "192.0.2.22") {
				t.Errorf("%s: a part of the document is in the trail: %+v", b.ip, e)
			}
		}
	}
}
