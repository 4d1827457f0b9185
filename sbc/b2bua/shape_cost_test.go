package b2bua

import (
	"testing"

	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// shapeOf returns what makes the shape of one attempt, over and over.
func shapeOf(t testing.TB, group string, route *trunkgroup.CarrierRoute) func() {
	w := newWorldOf(t, "dal-1", "dallas", shapedDocument())
	m := mustParse(t, callerInvite(`"Bob" <sip:+13105551234@198.51.100.10>`, "P-Asserted-Identity: <sip:+13105551234@198.51.100.10>\r\n"))
	customer := w.table.Group("acme-out")
	c := &Call{s: w.s, msg: m, dir: outbound, customer: customer, ingress: customer, called: "+12025550123", calledRaw: "+12025550123"}
	member := w.table.Member(group + "/dal")
	try := &try{call: c, node: -1, cand: trunkgroup.Candidate{Member: member, Addr: member.Addr, Dialable: true, Route: route}}
	hop := transport.Target{Transport: trunkgroup.UDP, Addr: member.Addr}
	return func() { c.shape(try, hop) }
}

// A call that nobody shapes makes the same few strings as ever: Request-URI, From, To, the
// host and the lines.
func TestPlainCallsPayNothingForShapes(t *testing.T) {
	if n := testing.AllocsPerRun(100, shapeOf(t, "carrier-a", nil)); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkShape(b *testing.B) {
	for name, route := range map[string]*trunkgroup.CarrierRoute{
		"plain": nil, "route": {CarrierID: "a"},
		"all": {
			CarrierID: "a", NumberPolicy: "plain", TechPrefix: "1010288", CallerID: "+13105550100", Restricted: true, Headers: headersOf("X-Account", "42"),
		},
	} {
		b.Run(name, func(b *testing.B) {
			shape := shapeOf(b, "carrier-a", route)
			b.ReportAllocs()
			for b.Loop() {
				shape()
			}
		})
	}
}
