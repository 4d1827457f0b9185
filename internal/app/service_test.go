package app

import (
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// What a service manager is told of a node: who it is, calls, and whether the end can be taken back.
func TestServiceOfANode(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.87.20.1", document(pbx.Addr(0).String()))
	b.patience("drain: {announce: 1m, quiet: 1m, timeout: 1m}")
	b.start()
	defer b.stop()
	s := b.app.Service()
	b.wait("readiness", func() bool { return s.Unready() == "" })
	b.wait("a leader", func() bool { return strings.HasPrefix(s.Line(), "serving, 0 calls, leader n1, revision ") })
	if err := s.Answers(t.Context()); err != nil {
		t.Error(err)
	}
	if s.Ends() {
		t.Error("a node that serves ends")
	}
	order := func(o admin.DrainOrder) {
		t.Helper()
		if _, err := b.app.desk.SetDrain(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	call, _ := b.hold()
	b.wait("the call", func() bool { return strings.HasPrefix(s.Line(), "serving, 1 call, ") })
	order(admin.DrainOrder{Author: "test"})
	if s.Ends() || s.Unready() == "" || !strings.HasPrefix(s.Line(), "announcing, 1 call, ") {
		t.Errorf("an order that can be taken back: ends %v, %q, %q", s.Ends(), s.Unready(), s.Line())
	}
	order(admin.DrainOrder{Author: "test", Undo: true})
	b.app.Drain("test")
	if !s.Ends() {
		t.Error("a node that was told to end by a signal does not end")
	}
	call.HangUp()
}
