package app

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/guard"
)

// The kernel drops whatever comes from a network. A ban of one in which somebody is
// spared is none of its business, and closes nothing of his.
func TestTheKernelSparesWhoeverIsSpared(t *testing.T) {
	boxes := newClusterOf(t, "127.88.34", document("192.0.2.7:5060"), 2)
	for _, each := range boxes {
		each.start()
		defer each.stop()
	}
	ready(boxes...)
	b := boxes[0]
	b.wait("the other node", func() bool { return b.app.doors.peers(netip.MustParsePrefix(boxes[1].ip + "/32")) })
	now := time.Now()
	for _, p := range []string{boxes[1].ip + "/32", "192.0.2.7/32", "198.51.100.9/32"} {
		err := b.app.doors.ban(guard.Ban{Prefix: netip.MustParsePrefix(p), Auto: true, By: "auto", Since: now, Until: now.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, each := range boxes {
		each.wait("the bans", func() bool { return len(each.bans().Bans) == 3 })
		if list := each.app.doors.inKernel(time.Now()); len(list) != 1 || list[0].Prefix.String() != "198.51.100.9/32" {
			t.Errorf("%s: the kernel enforces %v", each.ip, list)
		}
	}
	body := `{"prefix": "` + boxes[1].ip + `", "seconds": 60, "reason": "test", "author": "noc"}`
	if code := b.ask(http.MethodPost, "/v1/bans", strings.NewReader(body), nil); code != http.StatusConflict {
		t.Errorf("ban of a node without force: %d", code)
	}
}
