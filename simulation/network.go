package simulation

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

const refusedErrno = syscall.ECONNREFUSED

// toNode carries a datagram from a far end to a node.
func (w *world) toNode(a *agent, n *node, b []byte) {
	w.datagram(a.name, n.name, b, func() {
		if !n.alive {
			w.after(time.Millisecond, func() { a.refused(branchOf(b)) })
			return
		}
		w.happened('n', n.index, b)
		n.datagram(a.addr, b)
	})
}

// toAgent carries a datagram from a node to a far end. failed hears of a closed
// port.
func (w *world) toAgent(n *node, boot uint32, to netip.AddrPort, b []byte, failed func(error)) {
	a := w.byAddr[to]
	if a == nil {
		w.fault("%s sent to %s, where nobody is", n.name, to)
		return
	}
	w.datagram(n.name, a.name, b, func() {
		switch a.mood {
		case blackHole:
		case refusing:
			if failed != nil {
				w.after(time.Millisecond, func() {
					if n.boot == boot {
						failed(errICMP(to))
					}
				})
			}
		default:
			w.happened('a', a.index, b)
			a.receive(n, b)
		}
	})
}

// datagram brings something from one to another: perhaps never, perhaps twice,
// perhaps late.
func (w *world) datagram(from, to string, b []byte, arrive func()) {
	copies := 1
	switch {
	case chance(w.net, w.loss()):
		copies = 0
		w.sums.Lost++
		w.lost[callIDOf(b)]++
		w.sayMessage(from, to+" LOST", b)
	case chance(w.net, w.plan.double):
		copies = 2
	}
	for range copies {
		d := 2*time.Millisecond + upTo(w.net, 20*time.Millisecond)
		if chance(w.net, w.plan.late) {
			d += upTo(w.net, 800*time.Millisecond)
		}
		w.after(d, func() {
			w.sayMessage(from, to, b)
			arrive()
		})
	}
}

// sayMessage adds a message to the trace.
func (w *world) sayMessage(from, to string, b []byte) {
	if !w.tracing || b == nil || bytes.HasPrefix(b, []byte("OPTIONS")) || bytes.Contains(b, []byte(" OPTIONS\r\n")) {
		return
	}
	m, fault := sip.Parse(b)
	if fault != nil {
		return
	}
	line, _, _ := strings.Cut(string(b), "\r\n")
	w.say("%s > %s: %s  cid %.20s cseq %d %s br %.24s ft %.12s tt %.12s", from, to, line, m.CallID(), m.CSeq(), m.CSeqMethod(),
		m.Branch(), m.FromTag(), m.ToTag())
}

// callIDOf finds the Call-ID of a message without parsing it.
func callIDOf(b []byte) string { return string(field(b, "\r\nCall-ID: ")) }

// branchOf finds the branch of the first Via.
func branchOf(b []byte) []byte {
	v := field(b, "\r\nVia: ")
	_, v, _ = bytes.Cut(v, []byte(";branch="))
	v, _, _ = bytes.Cut(v, []byte(";"))
	return v
}

func field(b []byte, name string) []byte {
	_, v, _ := bytes.Cut(b, []byte(name))
	v, _, _ = bytes.Cut(v, []byte("\r\n"))
	return v
}

// nodeBehind is the node that the responses to a request go to.
func (w *world) nodeBehind(m *sip.Message) *node {
	via := m.TopVia()
	return w.nodeAt(fmt.Sprintf("%s:%d", via.Host, via.Port))
}

// nodeAt finds a node by its address as text.
func (w *world) nodeAt(addr string) *node {
	for _, n := range w.nodes {
		if !n.witness && n.addr.String() == addr {
			return n
		}
	}
	return nil
}
