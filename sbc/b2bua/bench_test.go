package b2bua

import (
	"bytes"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// quietEnv keeps the last bytes sent per destination and nothing else.
type quietEnv struct {
	*world
	pbx, caller []byte
}

func (e *quietEnv) Send(t transport.Target, b []byte, _ uint64) {
	if t.Addr == carrierTarget {
		e.caller = b
	} else {
		e.pbx = b
	}
}
func (e *quietEnv) Share(Open)                                                {}
func (e *quietEnv) CallUp(*cdr.Record)                                        {}
func (e *quietEnv) CallDown(string)                                           {}
func (e *quietEnv) Finished(*cdr.Record)                                      {}
func (e *quietEnv) Count(Event)                                               {}
func (e *quietEnv) Evidence(*trunkgroup.Member, netip.AddrPort, bool, string) {}
func (e *quietEnv) Paused(*trunkgroup.Member, netip.AddrPort, time.Duration)  {}

var carrierTarget = netip.MustParseAddrPort(carrierAddr)

// BenchmarkCall is one whole call of six messages in and six out: INVITE with
// SDP, 180, 200, ACK, BYE, 200, parsing included.
func BenchmarkCall(b *testing.B) {
	w := newWorld(b)
	e := &quietEnv{world: w}
	w.s.env = e
	text := []byte(invite{body: offer, callID: "call-XXXXXXXX", branch: "z9hG4bKXXXXXXXX"}.String())
	at := func(addr netip.AddrPort, raw []byte) {
		m, fault := sip.Parse(raw)
		if fault != nil {
			b.Fatal(fault)
		}
		w.s.Receive(w.now, &Packet{Packet: transport.Packet{Message: m, Source: addr, Transport: trunkgroup.UDP}})
	}
	pbx := netip.MustParseAddrPort(pbx1Addr)
	parse := func(raw []byte) *sip.Message {
		m, fault := sip.Parse(raw)
		if fault != nil {
			b.Fatal(fault)
		}
		return m
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		id := []byte(strconv.Itoa(10_000_000 + n))
		at(carrierTarget, bytes.ReplaceAll(text, []byte("XXXXXXXX"), id))
		inv := parse(bytes.Clone(e.pbx))
		at(pbx, []byte(reply(inv, 180, "callee", "")))
		at(pbx, []byte(reply(inv, 200, "callee", answerSDP)))
		ok := parse(bytes.Clone(e.caller))
		at(carrierTarget, []byte(ackFor(ok, "z9hG4bKack"+string(id), "")))
		at(carrierTarget, []byte(inside(ok, "BYE", 2, "", "")))
		bye := parse(bytes.Clone(e.pbx))
		at(pbx, []byte(reply(bye, 200, "callee", "")))
		if n%1000 == 0 {
			w.now = w.now.Add(33 * time.Second)
			w.s.Advance(w.now)
		}
	}
}
