package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// K-27 hash: who gets a key is what calls do with it; a drained member gives its keys up and no other.
func TestK27_GroupHash(t *testing.T) {
	text := strings.Replace(twoSites, "{method: weighted}", "{method: hash, key: \"header:X-Room-Id\"}", 1)
	text = strings.Replace(text, "{id: d2,", "{id: d3, site: dallas, address: \"192.0.2.14:5060\"}, {id: d2,", 1)
	text = strings.Replace(text, "sites: [{name: dallas, peers: [ashburn]}, {name: ashburn, peers: [dallas]}]", "sites: [{name: dallas}, {name: ashburn}]", 1)
	b := newBox(t, "127.88.9.3", text)
	b.start()
	defer b.stop()
	b.wait("a table", func() bool { return b.app.watch.monitor.Board() != nil })
	ask := func() map[string]string {
		var a admin.HashAnswer
		path := "/v1/groups/acme-in/hash?"
		for i := range 50 {
			path += fmt.Sprintf("key=room-%d&", i)
		}
		if code := b.ask(http.MethodGet, strings.TrimSuffix(path, "&"), nil, &a); code != http.StatusOK || a.By != "header:X-Room-Id" || len(a.Keys) != 50 {
			t.Fatalf("%d, %+v", code, a)
		}
		first := make(map[string]string)
		board := b.app.watch.monitor.Board()
		for _, k := range a.Keys {
			place := make(map[int]string)
			for _, p := range k.Order {
				place[p.Place] = p.Member
			}
			first[k.Key] = place[1]
			traits := &trunkgroup.Traits{Headers: sameHeader(k.Key)}
			plan := trunkgroup.Plan(nil, board.Table.Group("acme-in"), "dallas", board.View, trunkgroup.Draw{Traits: traits, Turn: 5, Random: 9})
			if len(plan) != 3 || plan[len(plan)-1].Member.Key != k.Order[2].Member || k.Order[2].Score == 0 {
				t.Errorf("%s: %+v, and calls have %v", k.Key, k.Order, plan)
			}
		}
		return first
	}
	before := ask()
	if code := b.order("/v1/members/acme-in/d1/state", `{"state":"draining"}`, nil); code != http.StatusOK {
		t.Fatal(code)
	}
	for key, member := range ask() {
		if was := before[key]; member == "acme-in/d1" || was != "acme-in/d1" && was != member {
			t.Errorf("%s went from %s to %s", key, was, member)
		}
	}
	for path, want := range map[string]int{
		"/v1/groups/acme-in/hash": 422, "/v1/groups/other/hash?key=x": 404, "/v1/groups/carrier/hash?key=x": 422, "/v1/groups/acme-in/hash?key=x&site=houston": 404,
		"/v1/groups/acme-in/hash?key=": 422,
	} {
		if code := b.ask(http.MethodGet, path, nil, nil); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
}
