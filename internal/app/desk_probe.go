package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Defaults of a test call.
const (
	testRing = 3 * time.Second
	testHold = time.Second
)

// testSDP is what a test call offers: a stream that nobody sends on.
const testSDP = "v=0\r\no=- 1 1 IN IP4 192.0.2.0\r\ns=-\r\nc=IN IP4 192.0.2.0\r\nt=0 0\r\nm=audio 9 RTP/AVP 0 8\r\na=inactive\r\n"

// TestRoute implements admin.Tester: the caller is who Explain says he is, and the
// call goes the way of every other one.
func (d *desk) TestRoute(ctx context.Context, o admin.TestOrder) (admin.TestCall, error) {
	q := o.Question
	if q.At != 0 || len(q.Assume) > 0 || q.Site != "" && q.Site != d.app.cfg.Site {
		return admin.TestCall{}, fmt.Errorf("%w: a test call is placed here and now: no other site, revision or assumption", admin.ErrInvalid)
	}
	x, err := d.explore(ctx, q)
	if err != nil {
		return admin.TestCall{}, err
	}
	if err := x.testable(); err != nil {
		return admin.TestCall{}, err
	}
	order, err := x.testOrder(&o)
	if err != nil {
		return admin.TestCall{}, err
	}
	r, err := d.app.server.Test(ctx, order)
	switch {
	case errors.Is(err, sbc.ErrTestRate):
		return admin.TestCall{}, fmt.Errorf("%w: %w", admin.ErrRefused, err)
	case err != nil:
		return admin.TestCall{}, fmt.Errorf("%w: %w", admin.ErrUnavailable, err)
	}
	return x.tested(&r), nil
}

// testable refuses what no test call is for: strangers, and emergency numbers.
func (x *exploring) testable() error {
	called := trunkgroup.BehindPrefix(x.query.Called, x.Match.Prefix)
	switch {
	case trunkgroup.EmergencyNumber([]byte(x.Called)), trunkgroup.EmergencyNumber(called):
		return fmt.Errorf("%w: an emergency number is never tested", admin.ErrRefused)
	case x.Match.Provider == nil && x.Match.Customer == nil:
		return fmt.Errorf("%w: no trunk is identified by that: a test call is in the name of one; tandem explain says why", admin.ErrInvalid)
	}
	return nil
}

// testOrder makes the INVITE that the node calls itself with.
func (x *exploring) testOrder(o *admin.TestOrder) (sbc.TestOrder, error) {
	id := "test-" + strings.ToLower(rand.Text())
	draft := x.draft()
	draft.CallID, draft.Branch, draft.SDP = id, id, testSDP
	if !draft.Source.IsValid() {
		draft.Source = netip.MustParseAddrPort("192.0.2.0:5060") // nobody's (RFC 5737)
	}
	m, err := draft.Message()
	if err != nil {
		return sbc.TestOrder{}, fmt.Errorf("%w: %w", admin.ErrInvalid, err)
	}
	order := sbc.TestOrder{
		TestCall: b2bua.TestCall{Message: m, Source: draft.Source, Transport: draft.Transport, Who: x.Match, ANI: x.Shown},
		SentBy:   draft.SentBy(), Branch: id,
		Ring: cmp.Or(time.Duration(o.RingMillis)*time.Millisecond, testRing), Hold: cmp.Or(time.Duration(o.HoldMillis)*time.Millisecond, testHold),
	}
	if x.Digest {
		order.User = x.q.Username
	}
	return order, nil
}

// tested words a result.
func (x *exploring) tested(r *sbc.TestResult) admin.TestCall {
	t := admin.TestCall{
		Direction: x.Direction, Ingress: x.Ingress, Called: x.Called, Code: r.Code, Reason: r.Reason,
		PDD: r.PDD.Milliseconds(), Setup: r.Setup.Milliseconds(), Answered: r.Answered, GivenUp: r.GivenUp, Attempts: []admin.TestAttempt{},
	}
	if r.Record == nil {
		return t
	}
	t.CallID, t.Cause, t.HandedOff = r.Record.CallID, r.Record.HangupCause, r.Record.HandedOff
	for i := range r.Record.Attempts {
		a := &r.Record.Attempts[i]
		line := admin.TestAttempt{
			Group: a.Group, Member: a.Member, Site: a.Site, Address: a.Address, Dialled: a.Dialed, Rang: a.Progress,
			Code: a.Code, Cause: a.Cause, Millis: a.Elapsed.Milliseconds(),
		}
		if m := x.board.Table.Member(a.Group + "/" + a.Member); line.Address == "" && m != nil && m.Addr.IsValid() {
			line.Address = m.Addr.String()
		}
		t.Attempts = append(t.Attempts, line)
	}
	return t
}
