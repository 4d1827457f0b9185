package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// twoSites has a carrier with a gateway in each site and a customer with weights.
const twoSites = `cluster: test
sites: [{name: dallas, peers: [ashburn]}, {name: ashburn, peers: [dallas]}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555*"]
    distribution: {method: weighted}
    members: [{id: d1, site: dallas, address: "192.0.2.11:5060"}, {id: d2, site: dallas, address: "192.0.2.12:5060"}, {id: a1, site: ashburn, address: "192.0.2.13:5060"}]
  - name: carrier
    role: pstn-provider
    sources: [{ip: 127.0.0.1}]
    members: [{id: gw, site: dallas, address: "192.0.2.1:5060"}, {id: gw2, site: ashburn, address: "192.0.2.2:5060"}]
`

// sees tells whether a node believes a member to be in a state.
func (b *box) sees(member string, state trunkgroup.State) bool {
	board := b.app.watch.monitor.Board()
	if board == nil || board.Table.Member(member) == nil {
		return false
	}
	return board.Members[board.Table.Member(member).Index].State == state
}

// order posts an operator's order.
func (b *box) order(path, body string, into any) int {
	b.t.Helper()
	return b.ask(http.MethodPost, path, strings.NewReader(body), into)
}

// K-27, C4: any node of the cluster takes an order about any member; a node of the
// member's own site carries it out, which both show.
func TestK27_OrdersFromAnyNode(t *testing.T) {
	boxes := newClusterOf(t, "127.88.43", twoSites, 3)
	for _, b := range boxes {
		b.start()
		defer b.stop()
	}
	dallas, ashburn := boxes[0], boxes[2]
	for _, b := range boxes {
		b.wait("the cluster", func() bool { return b.peersUp() == 2 && b.app.watch.monitor.Board() != nil })
	}
	var knob admin.Knob
	if code := ashburn.order("/v1/members/acme-in/d1/state", `{"state":"draining","author":"ann","reason":"new card"}`, &knob); code != http.StatusOK ||
		knob.State != "draining" || knob.Author != "ann" || knob.Node == "n3" {
		t.Errorf("%d, %+v", code, knob)
	}
	for _, b := range boxes {
		b.wait("the order", func() bool { return b.sees("acme-in/d1", trunkgroup.Draining) })
	}
	var line admin.KnobLine
	if code := ashburn.order("/v1/members/acme-in/d2/weight", `{"weight":7,"author":"ann"}`, &line); code != http.StatusOK || line.Setting != "weight 7" {
		t.Errorf("%d, %+v", code, line)
	}
	if code := ashburn.order("/v1/knobs/renew", `{"subject":"acme-in/d1"}`, &line); code != http.StatusOK || line.Setting != "draining" || line.Reason != "new card" {
		t.Errorf("%d, %+v", code, line)
	}
	if code := dallas.order("/v1/sites/ashburn/drain", `{"drain":true,"reason":"flood"}`, &line); code != http.StatusOK || line.Node != "n3" {
		t.Errorf("%d, %+v", code, line)
	}
	for _, b := range boxes {
		b.wait("the drain", func() bool { return b.sees("carrier/gw2", trunkgroup.Draining) })
	}
	var result admin.BulkResult
	if code := dallas.order("/v1/orders/state", `{"group":"acme-in","state":"disabled","reason":"x"}`, &result); code != http.StatusOK || len(result.Sites) != 2 ||
		result.Sites[0] != (admin.BulkSite{Site: "ashburn", Members: 1}) && result.Sites[1] != (admin.BulkSite{Site: "ashburn", Members: 1}) {
		t.Errorf("%d, %+v", code, result)
	}
	for _, b := range boxes {
		b.wait("the order about all", func() bool {
			return b.sees("acme-in/a1", trunkgroup.Disabled) && b.sees("acme-in/d2", trunkgroup.Disabled)
		})
	}
	for _, x := range []struct {
		path, body string
		code       int
	}{
		{"/v1/members/acme-in/d9/state", `{"state":"draining"}`, 404},
		{"/v1/members/acme-in/d1/state", `{"state":"asleep"}`, 422},
		{"/v1/members/acme-in/d1/state", `{"state":"inactive"}`, 422}, // not monitored
		{"/v1/members/carrier/gw/weight", `{"weight":7}`, 422},
		{"/v1/sites/dallas/drain", `{"drain":true,"reason":"x"}`, 409}, // the last one
		{"/v1/sites/houston/drain", `{"drain":true,"reason":"x"}`, 404},
		{"/v1/knobs/renew", `{"subject":"carrier/gw"}`, 404},
		{"/v1/orders/state", `{"state":"active"}`, 422},
		{"/v1/orders/state", `{"group":"acme-in","state":"inactive"}`, 422}, // nobody is: nothing was done in any site
		{"/v1/orders/state", `{"site":"houston","state":"active"}`, 404},
	} {
		if code := ashburn.order(x.path, x.body, nil); code != x.code {
			t.Errorf("%s %s: %d, want %d", x.path, x.body, code, x.code)
		}
	}
}

// An order for a site that cannot be reached says so and what to do; one that is
// not answered does not claim that nothing was done.
func TestK27_OrdersThatDoNotArrive(t *testing.T) {
	boxes := newClusterOf(t, "127.88.44", twoSites, 3)
	for _, b := range boxes[:2] {
		b.start()
		defer b.stop()
	}
	b := boxes[0]
	b.wait("the cluster", func() bool { return b.peersUp() == 1 && b.app.watch.monitor.Board() != nil })
	_, err := b.app.desk.SetState(t.Context(), "acme-in", "a1", admin.Order{State: "draining"})
	if !errors.Is(err, admin.ErrUnavailable) || !strings.Contains(err.Error(), "ask one of its own") {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	o := newOrders(boxes[1].app, nil)
	for range maxOrders {
		o.slots <- struct{}{}
	}
	o.asked("n1", 7, []byte(`{"verb":"state"}`)) // is answered at once, though nobody can work on it
	if _, err := b.app.desk.orders.pass(ctx, order{Verb: "nonsense", Site: "dallas"}); !errors.Is(err, admin.ErrInvalid) {
		t.Errorf("a verb that the other node does not know: %v", err)
	}
}

// FuzzOrderFrame gives a node whatever another one may send.
func FuzzOrderFrame(f *testing.F) {
	f.Add(encodeOrder(orderAsks, 1, order{Verb: "state", Site: "dallas", Subject: "acme/pbx", State: "draining"}))
	f.Add(encodeOrder(orderAnswers, 1, orderAnswer{Node: "n1", Error: "no", Kind: "refused"}))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, id, body, ok := splitOrder(b)
		if !ok {
			return
		}
		o := &orders{waiting: map[uint64]chan orderAnswer{id: make(chan orderAnswer, 1)}}
		if kind == orderAnswers {
			o.answered(id, body)
		}
	})
}
