package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// A test call is a real one: it is dialled, rings, is answered and ended, and its
// record says that it was a test.
func TestD07_RouteTestPlacesARealCall(t *testing.T) {
	pbx := startPBX(t)
	b := newBox(t, "127.88.61.2", document(pbx.Addr(0).String()))
	b.start()
	defer b.stop()
	b.wait("a member that is active", func() bool { return b.app.watch.monitor.Board() != nil && b.member("acme-in/pbx").State == "active" })
	test := func(called, set string) (admin.TestCall, error) {
		t.Helper()
		behaviour, err := sim.ParseBehaviour(set)
		if err != nil {
			t.Fatal(err)
		}
		pbx.SetBehaviour(behaviour)
		return b.app.desk.TestRoute(t.Context(), admin.TestOrder{
			Question: admin.Question{Called: called, Source: "127.0.0.1:5060", Caller: "+13105551234"}, RingMillis: 300, HoldMillis: 100,
		})
	}
	for _, x := range []struct {
		name, behaviour   string
		code              int
		answered, givenUp bool
	}{
		{"answered", "instant", 200, true, false},
		{"rings", "answer after=1h", 487, false, true},
		{"busy", "busy", 486, false, false},
	} {
		b.wait("a second since the last one", func() bool {
			got, err := test("+12145550100", x.behaviour)
			if errors.Is(err, admin.ErrRefused) {
				return false
			}
			if err != nil || got.Code != x.code || got.Answered != x.answered || got.GivenUp != x.givenUp || len(got.Attempts) != 1 || !got.Attempts[0].Dialled || got.CallID == "" {
				t.Errorf("%s: %+v, %v", x.name, got, err)
			}
			return true
		})
	}
	if _, err := test("911", "instant"); !errors.Is(err, admin.ErrRefused) || !strings.Contains(err.Error(), "emergency") {
		t.Errorf("an emergency number: %v", err)
	}
	if _, err := b.app.desk.TestRoute(t.Context(), admin.TestOrder{Question: admin.Question{Called: "+12145550100", Source: "203.0.113.200:5060"}}); !errors.Is(err, admin.ErrInvalid) {
		t.Errorf("a stranger: %v", err)
	}
	b.wait("no call is left", func() bool { return b.app.server.Stats().Calls == 0 })
}
