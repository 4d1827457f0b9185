package app

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// K-18, K-27, K-28: members are added and removed while calls are up; the calls go on and are counted, the members that stay keep their health,
// what was added stands in the history and is undone by a rollback.
func TestK28_MembersComeAndGoUnderCalls(t *testing.T) {
	pbx := startPBX(t)
	text := strings.Replace(document(pbx.Addr(0).String()), "members: [{id: pbx", "distribution: {method: call-load}\n    # the PBX\n    members: [{id: pbx", 1)
	b := newBox(t, "127.88.9.2", text)
	b.start()
	defer b.stop()
	b.wait("a member that is active", func() bool { return b.app.watch.monitor.Board() != nil && b.member("acme-in/pbx").State == "active" })
	load, err := sim.NewLoad(sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: addrPort(b.ip + ":5060")}}}, To: []string{"+12145550100"}, Rate: 1, Calls: 1, Grace: 20 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = load.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	call := load.Dial(sim.Placement{To: "+12145550100", Hold: 5 * time.Second})
	if err := call.Answered(ctx); err != nil {
		t.Fatal(err)
	}
	since := b.member("acme-in/pbx").Since
	var done admin.Applied
	if code := b.order("/v1/members/acme-in", `{"id":"pbx-2","site":"dallas","address":"127.0.0.1:9","weight":2,"author":"ann","reason":"growth"}`, &done); code != http.StatusOK || done.Revision != 2 {
		t.Fatalf("%d, %+v", code, done)
	}
	if m := b.member("acme-in/pbx-2"); m.Weight != 2 || m.Address != "127.0.0.1:9" {
		t.Errorf("%+v", m)
	}
	if m := b.member("acme-in/pbx"); m.Calls != 1 || !m.Since.Round(time.Second).Equal(since.Round(time.Second)) || m.State != "active" {
		t.Errorf("after another was added: %+v", m)
	}
	if e, _ := b.app.node.Current(); !strings.Contains(string(e.Document), "# the PBX") || e.Author != "ann" || e.Reason != "growth" {
		t.Errorf("%s %s: %s", e.Author, e.Reason, e.Document)
	}
	if code := b.order("/v1/members/acme-in/pbx/remove", `{"author":"ann"}`, &done); code != http.StatusOK || done.Revision != 3 {
		t.Fatalf("%d, %+v", code, done)
	}
	if n := b.app.server.Stats().Calls; n != 1 {
		t.Errorf("%d calls after the member of one was removed", n)
	}
	if code := b.order("/v1/config/rollback", `{"revision":2,"author":"ann","reason":"back"}`, &done); code != http.StatusOK {
		t.Fatalf("%d, %+v", code, done)
	}
	b.wait("the member again", func() bool { return len(b.app.watch.monitor.Board().Table.Group("acme-in").Members) == 2 })
	out, err := call.Done(ctx)
	if err != nil {
		t.Errorf("the call: %v, %+v", err, out)
	}
	b.wait("the end of the call", func() bool { return b.app.server.Stats().Calls == 0 && b.member("acme-in/pbx").Calls == 0 })
	for _, x := range []struct {
		path, body string
		code       int
	}{
		{"/v1/members/acme-in", `{"id":"pbx-2","site":"dallas","address":"127.0.0.1:9"}`, 409},
		{"/v1/members/other", `{"id":"pbx-2","site":"dallas","address":"127.0.0.1:9"}`, 404},
		{"/v1/members/acme-in", `{"id":"x","site":"houston","address":"127.0.0.1:9"}`, 422},
		{"/v1/members/acme-in/nobody/remove", `{}`, 404},
		{"/v1/members/acme-in", `{"id":"x","site":"dallas","address":"127.0.0.1:10","dry_run":true}`, 200},
	} {
		if code := b.order(x.path, x.body, nil); code != x.code {
			t.Errorf("%s %s: %d, want %d", x.path, x.body, code, x.code)
		}
	}
}
