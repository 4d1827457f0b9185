package app

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// post sends an order and wants it to be done.
func (b *box) post(path, body string, into any) {
	b.t.Helper()
	if code := b.ask(http.MethodPost, path, strings.NewReader(body), into); code != http.StatusOK {
		b.t.Fatalf("POST %s: %d", path, code)
	}
}

func (b *box) get(path string, into any) {
	b.t.Helper()
	if code := b.ask(http.MethodGet, path, nil, into); code != http.StatusOK {
		b.t.Fatalf("GET %s: %d", path, code)
	}
}

func (b *box) up() {
	b.t.Helper()
	b.start()
	b.t.Cleanup(b.stop)
	b.wait("readiness", func() bool { return b.ask(http.MethodGet, "/readyz", nil, nil) == http.StatusOK })
}

// D6, DEC-25: a change is planned against the calls of before, applied,
// found in the history, and taken back octet for octet.
func TestD6_ConfigurationIsALog(t *testing.T) {
	pbx := startPBX(t)
	first := document(pbx.Addr(0).String())
	b := newBox(t, "127.88.1.41", first)
	b.up()
	if got := b.calls(10); got != 10 {
		t.Fatalf("%d of 10 calls answered", got)
	}
	without := strings.Replace(first, "+1214555*", "+1469555*", 1)
	var plan admin.Plan
	b.wait("the last call's question", func() bool { b.post("/v1/config/plan", without, &plan); return plan.Calls.Asked == 10 })
	if plan.Same || plan.Equal || plan.Revision != 1 || plan.Calls.Different != 10 || plan.Calls.Shifts[0].Would != "inbound from carrier: 404" ||
		plan.Diff.Tallies["number"].Added != 1 || plan.Diff.Tallies["number"].Removed != 1 {
		t.Errorf("%+v", plan)
	}
	var now admin.Document
	b.get("/v1/config", &now)
	if now.Revision != 1 {
		t.Errorf("a plan made revision %d", now.Revision)
	}
	var done admin.Applied
	b.post("/v1/config?author=ann&reason=other+numbers&expect_revision=1", without, &done)
	if done.Revision != 2 || done.Unchanged {
		t.Errorf("%+v", done)
	}
	if b.post("/v1/config?author=ann", without, &done); done.Revision != 2 || !done.Unchanged {
		t.Errorf("the same once more: %+v", done)
	}
	if code := b.ask(http.MethodPost, "/v1/config/plan?expect_revision=1", strings.NewReader(first), nil); code != http.StatusConflict {
		t.Errorf("a plan against a revision that is gone: %d", code)
	}
	b.get("/v1/config/diff?from=1&to=2", &plan)
	if plan.Revision != 1 || plan.To != 2 || plan.Calls.Different != 10 {
		t.Errorf("%+v", plan)
	}
	b.post("/v1/config/rollback", `{"revision": 1, "author": "bob", "reason": "calls fail"}`, &done)
	b.get("/v1/config", &now)
	if done.Revision != 3 || now.Revision != 3 || now.Text != first || now.Author != "bob" || now.Reason != "rollback to 1.1: calls fail" {
		t.Errorf("%+v, %+v", done, now)
	}
	var history admin.History
	b.get("/v1/config/history", &history)
	got := ""
	for _, r := range history.Revisions {
		got += fmt.Sprintf("%d %s %s;", r.Revision, r.Author, r.State)
	}
	if got != "1 node n1 ;2 ann ;3 bob in force;" || history.Revisions[0].Sum != history.Revisions[2].Sum {
		t.Errorf("%s %+v", got, history)
	}
	b.get("/v1/config/revisions/2", &now)
	if now.Text != without || now.Author != "ann" {
		t.Errorf("%+v", now)
	}
	if code := b.ask(http.MethodGet, "/v1/config/revisions/9", nil, nil); code != http.StatusNotFound {
		t.Errorf("a revision that never was: %d", code)
	}
}

// DEC-25: a canary under which calls fail is left by its node, which says why;
// everything else waits for an operator's verdict. Then DEC-14: what was backed
// up comes back under a higher generation.
func TestDEC25_CanaryAndBackup(t *testing.T) {
	pbx := startPBX(t)
	first := document(pbx.Addr(0).String())
	b := newBox(t, "127.88.1.42", first)
	b.up()
	if got := b.calls(30); got != 30 {
		t.Fatalf("%d of 30 calls answered", got)
	}
	var done admin.Applied
	b.post("/v1/config/canary?site=dallas&author=ann&reason=try", strings.Replace(first, "+1214555*", "+1469555*", 1), &done)
	if done.Revision != 2 {
		t.Errorf("%+v", done)
	}
	if code := b.ask(http.MethodPost, "/v1/config?author=bob", strings.NewReader(first+"# bob\n"), nil); code != http.StatusConflict {
		t.Errorf("a change while a canary is tried: %d", code)
	}
	b.wait("the canary's table", func() bool { return b.app.canary() == 2 })
	var canary admin.Canary
	b.wait("the node's way back", func() bool {
		b.calls(10) // nobody owns the number under the canary
		b.get("/v1/config/canary", &canary)
		return canary.Fallen != ""
	})
	if !strings.Contains(canary.Fallen, "calls failed") || canary.Site != "dallas" || len(canary.Nodes) != 1 || !canary.Nodes[0].FellBack {
		t.Errorf("%+v", canary)
	}
	if got := b.calls(5); got != 5 {
		t.Errorf("%d of 5 calls answered after the way back", got)
	}
	b.post("/v1/config/canary/verdict", `{"promote": false, "author": "ann", "reason": "no calls"}`, &done)
	var now admin.Document
	b.get("/v1/config", &now)
	if now.Text != first || now.Revision != done.Revision {
		t.Errorf("after abandon: %+v, %+v", done, now)
	}
	if code := b.ask(http.MethodGet, "/v1/config/canary", nil, nil); code != http.StatusNotFound {
		t.Errorf("a canary after its end: %d", code)
	}
	backup := []byte(b.text("/v1/config/backup"))
	_, backup, _ = bytes.Cut(backup, []byte("\r\n\r\n"))
	b.post("/v1/config?author=ann", strings.Replace(first, "+1214555*", "+1972555*", 1), &done)
	restore := func(path string, file []byte, want int) {
		t.Helper()
		if code := b.ask(http.MethodPost, path, io.Reader(bytes.NewReader(file)), &done); code != want {
			t.Errorf("POST %s: %d, want %d", path, code, want)
		}
	}
	damaged := bytes.Clone(backup)
	damaged[len(damaged)/2] ^= 1
	restore("/v1/config/restore?author=ann", damaged, http.StatusUnprocessableEntity)
	restore("/v1/config/restore?author=ann&revision=77", backup, http.StatusNotFound)
	restore("/v1/config/restore?author=ann&dry_run=true", backup, http.StatusOK)
	restore("/v1/config/restore?author=ann&reason=test", backup, http.StatusOK)
	b.get("/v1/config", &now)
	if now.Generation != 2 || now.Text != first || done.Generation != 2 {
		t.Errorf("after restore: %+v, %+v", done, now)
	}
}

// D6: a reload resets neither what is known of members, nor counters, nor whose
// turn it is.
func TestD6_ReloadKeepsHealthCountersAndTurns(t *testing.T) {
	one, two := startPBX(t), startPBX(t)
	text := func(i int) string {
		doc := strings.Replace(document(one.Addr(0).String()), "members: [{id: pbx,", fmt.Sprintf("timers: {ring: %ds}\n    members: [{id: two, site: dallas, address: %q}, {id: pbx,", 20+i, two.Addr(0)), 1)
		if i%2 == 1 { // a group before it, so that every index moves
			doc = strings.Replace(doc, "trunk_groups:\n", "trunk_groups:\n  - {name: other, role: pstn-provider, members: [{id: x, site: dallas, address: \"192.0.2.7:5060\"}]}\n", 1)
		}
		return doc
	}
	b := newBox(t, "127.88.1.43", text(0))
	b.up()
	state := func(id string) (m admin.Member) {
		var list admin.MemberList
		b.get("/v1/members", &list)
		for _, m := range list.Members {
			if m.Group == "acme-in" && m.ID == id {
				return m
			}
		}
		t.Fatalf("no member %s", id)
		return m
	}
	b.wait("good probes", func() bool { return state("pbx").State == "active" && state("two").State == "active" })
	before := state("pbx")
	for i := 1; i <= 8; i++ {
		if got := b.calls(1); got != 1 {
			t.Fatalf("call %d was not answered", i)
		}
		b.post("/v1/config?author=test", text(i), nil)
		// The instant is kept as an age: what the wall clock is slewed by shows in it.
		if now := state("pbx"); now.State != "active" || now.Since.Sub(*before.Since).Abs() > 50*time.Millisecond || now.Targets[0].Changes != before.Targets[0].Changes {
			t.Fatalf("after reload %d: %+v, before %+v", i, now, before)
		}
	}
	attempts := regexp.MustCompile(`(?m)^tandem_route_attempts_total\{[^}]*member="(pbx|two)"[^}]*\} (\d+)`)
	count := map[string]int{}
	for _, m := range attempts.FindAllStringSubmatch(b.text("/metrics"), -1) {
		n, _ := strconv.Atoi(m[2])
		count[m[1]] += n
	}
	if count["pbx"] != 4 || count["two"] != 4 {
		t.Errorf("attempts %v, want 4 each: turns and counters go on over reloads", count)
	}
}

// DEC-25: a canary that forgets a carrier has no calls that could fail. Its node
// sees the INVITEs that it refuses.
func TestDEC25_CanaryThatForgetsACarrier(t *testing.T) {
	pbx := startPBX(t)
	first := document(pbx.Addr(0).String())
	b := newBox(t, "127.88.1.44", first)
	b.up()
	if got := b.calls(40); got != 40 {
		t.Fatalf("%d of 40 calls answered", got)
	}
	b.wait("a look at the calls", func() bool { return b.app.watch.canary.started.Load() == 40 })
	b.post("/v1/config/canary?site=dallas&author=ann", strings.Replace(first, "ip: 127.0.0.1", "ip: 192.0.2.99", 1), nil)
	var canary admin.Canary
	b.wait("the node's way back", func() bool {
		b.calls(10)
		b.get("/v1/config/canary", &canary)
		return canary.Fallen != ""
	})
	if !strings.Contains(canary.Fallen, "INVITEs came from nobody known") {
		t.Errorf("%+v", canary)
	}
	if got := b.calls(5); got != 5 {
		t.Errorf("%d of 5 calls answered after the way back", got)
	}
}
