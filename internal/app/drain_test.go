package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// patience gives the node of a box its drain keys.
func (b *box) patience(line string) {
	b.t.Helper()
	text, err := os.ReadFile(b.file)
	if err != nil {
		b.t.Fatal(err)
	}
	b.write("node.yaml", string(text)+line+"\n")
}

// hold sets one call up that stays until it is hung up.
func (b *box) hold() (call *sim.Call, load *sim.Load) {
	b.t.Helper()
	load, err := sim.NewLoad(sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: addrPort(b.ip + ":5060")}}}, To: []string{"+12145550100"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = load.Close() })
	call = load.Dial(sim.Placement{To: "+12145550100", Hold: -1})
	if err := call.Answered(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	return call, load
}

// withoutQuorum is a node that has a document and whose fellow voters are away.
func withoutQuorum(t *testing.T, ip, document string, voters ...string) *box {
	t.Helper()
	alone := newBox(t, ip, document)
	alone.start()
	alone.wait("readiness", func() bool { return alone.ask("GET", "/readyz", nil, nil) == 200 })
	alone.stop()
	b := newBox(t, ip, document, voters...)
	text, err := os.ReadFile(b.file)
	if err != nil {
		t.Fatal(err)
	}
	b.write("node.yaml", strings.Replace(string(text), b.dir+"/data", alone.dir+"/data", 1))
	if err := os.RemoveAll(filepath.Join(alone.dir, "data", "raft")); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *box) drain() (d admin.Drain) {
	b.t.Helper()
	if code := b.ask(http.MethodGet, "/v1/drain", nil, &d); code != http.StatusOK {
		b.t.Fatalf("GET /v1/drain: %d", code)
	}
	return d
}

func ended(b *box) bool {
	select {
	case <-b.app.Ended():
		return true
	default:
		return false
	}
}

// DEC-19 from the order to the end of the process, at a node without a sibling:
// calls are taken all the time, the one that is up is waited for, and both the
// undo and the signal do what they say. The node has no quorum: a drain needs none.
func TestDEC19_DrainOfANode(t *testing.T) {
	pbx := startPBX(t)
	b := withoutQuorum(t, "127.88.1.7", document(pbx.Addr(0).String()), "127.88.1.8", "127.88.1.9")
	b.patience("drain: {announce: 10s, quiet: 100ms, timeout: 1m}")
	b.start()
	defer b.stop()
	if d := b.drain(); d.Phase != "serving" || d.Since != nil {
		t.Errorf("%+v", d)
	}
	call, _ := b.hold()
	order := func(text string, want int) {
		t.Helper()
		req := strings.NewReader(text)
		if code := b.ask(http.MethodPost, "/v1/drain", req, nil); code != want {
			t.Fatalf("%s: %d, want %d", text, code, want)
		}
	}
	order(`{"author":"ann","reason":"kernel","stay":true}`, http.StatusOK)
	if page := b.text("/readyz"); !strings.Contains(page, "503") || !strings.Contains(page, "since 20") || !strings.Contains(page, "by ann") {
		t.Errorf("readyz %s", page)
	}
	if !strings.Contains(b.text("/metrics"), "tandem_draining 1") {
		t.Error("tandem_draining is not 1")
	}
	b.wait("phase 2", func() bool { return b.drain().Phase == "passing" })
	if n := b.calls(3); n != 3 {
		t.Errorf("%d of 3 calls answered in phase 2 without a sibling", n)
	}
	order(`{"undo":true}`, http.StatusOK)
	if page := b.text("/readyz?verbose"); !strings.Contains(page, "[+]drain") {
		t.Errorf("readyz %s", page)
	}

	b.app.Drain("signal")
	order(`{"undo":true}`, http.StatusConflict)
	b.wait("phase 2", func() bool { return b.drain().Phase == "passing" })
	if d := b.drain(); d.Calls != 1 || d.By != "signal" || d.Until == nil {
		t.Errorf("%+v", d)
	}
	if ended(b) {
		t.Error("ended with a call on it")
	}
	call.HangUp()
	b.wait("the end", func() bool { return ended(b) })
}

// A second signal does not wait: the caller gets a BYE that says why.
func TestDEC19_ASecondSignalEndsAtOnce(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.1.10", document(pbx.Addr(0).String()))
	b.start() // with the patience of a real node
	b.wait("readiness", func() bool { return b.ask("GET", "/readyz", nil, nil) == 200 })
	call, _ := b.hold()
	b.app.Drain("signal")
	b.app.Hurry("signal")
	if !ended(b) {
		t.Fatal("not ended at once")
	}
	b.stop()
	r, err := call.Done(t.Context())
	if err != nil || r.Result != sim.HungUp || !strings.Contains(r.ByeReason, "node stops") {
		t.Errorf("%v, %+v", err, r)
	}
}

// An idle node ends at once, also one that drained to stay, and one whose last
// call is long over.
func TestDEC19_AnIdleNodeEndsAtOnce(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.1.11", document(pbx.Addr(0).String()))
	b.patience("drain: {announce: 10s, quiet: 50ms, timeout: 1m}")
	b.start()
	defer b.stop()
	begin := time.Now()
	if code := b.ask(http.MethodPost, "/v1/drain", strings.NewReader(`{"stay":true}`), nil); code != http.StatusOK {
		t.Fatal(code)
	}
	if d := b.drain(); d.Phase != "passing" || !d.Stay {
		t.Errorf("%+v", d)
	}
	b.app.Drain("signal")
	if !ended(b) {
		t.Error("not ended")
	}
	t.Logf("after %v", time.Since(begin))
}
