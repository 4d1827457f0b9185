package b2bua

import (
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// What a decision server says of a call that has given up may get lost on its way, in a queue that is full: the
// shard keeps nothing of a call that is over.
func TestS011_AnswersThatAreLostLeaveNothing(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := decided(t, carriers(func(*trunkgroup.Document) {}), routeTo(a))
		w.routes = func(*RouteQuery) *trunkgroup.RouteSet { return nil }
		w.from(customerAddr, vendorCall())
		if n := len(w.s.waits); n != 1 {
			t.Fatalf("%d waits", n)
		}
		if late {
			w.advance(time.Minute)
			w.take(customerAddr, "SIP/2.0 503")
		} else {
			w.from(customerAddr, strings.Replace(vendorCall(), "INVITE", "CANCEL", 2))
			w.take(customerAddr, "SIP/2.0 487")
		}
		if n := len(w.s.waits); n != 0 {
			t.Errorf("late %t: %d waits are left", late, n)
		}
	}
}
