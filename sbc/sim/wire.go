package sim

import (
	"bytes"
	"net/netip"
	"strconv"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Sender puts one message on the wire. It must not block and must not call back
// into the core. The data is never changed after the call. A non-zero ref comes
// back through Caller.Failed when the message could not be sent.
type Sender func(t transport.Target, data []byte, ref uint64)

const (
	magic      = "z9hG4bK"
	allow      = "INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO"
	typeSDP    = "application/sdp"
	memberLine = "X-Sim-Member: "
)

// arena hands out space for messages in large pieces: one allocation for some
// thirty messages. What was handed out is never reused.
type arena struct{ free []byte }

const (
	arenaSize    = 32 << 10
	arenaReserve = 2 << 10 // a message that grows past this moves to the heap by append
)

// start returns an empty buffer to append one message to.
func (a *arena) start() []byte {
	if cap(a.free) < arenaReserve {
		a.free = make([]byte, 0, arenaSize)
	}
	return a.free[:0:cap(a.free)]
}

// done seals the message and keeps the rest of the piece for the next one.
func (a *arena) done(msg []byte) []byte {
	if cap(a.free) > 0 && len(msg) > 0 && len(msg) <= cap(a.free) && &msg[0] == &a.free[:1][0] {
		rest := a.free[:cap(a.free)]
		a.free = rest[len(msg):len(msg)]
		return msg[:len(msg):len(msg)]
	}
	return msg
}

// replyTarget is where the response to a request goes.
//
// "If the "received" parameter is absent ... the response MUST be sent to the
// address indicated by the sent-by" port, or with rport to the source port
// (RFC 3261 18.2.2, RFC 3581 4).
func replyTarget(p *transport.Packet) transport.Target {
	t := transport.Target{Transport: p.Transport, Addr: p.Source, Listener: p.Listener, Flow: p.Flow}
	if p.Transport != trunkgroup.UDP {
		return t
	}
	if via := p.Message.TopVia(); !via.RPort {
		port := via.Port
		if port == 0 {
			port = p.Transport.DefaultPort()
		}
		t.Addr = netip.AddrPortFrom(p.Source.Addr(), port)
	}
	return t
}

// hop resolves the URI that a request goes to. Names are not looked up: a URI
// whose host is no address, or that names the place we already talk to, leads to
// the fallback, which keeps its connection.
func hop(uri []byte, fallback transport.Target) transport.Target {
	u, err := sip.ParseURI(uri)
	if err != nil {
		return fallback
	}
	addr, err := netip.ParseAddr(string(bytes.Trim(u.Host, "[]")))
	if err != nil {
		return fallback
	}
	proto := trunkgroup.UDP
	if v, ok := sip.Param(u.Params, "transport"); ok {
		if parsed, err := trunkgroup.ParseTransport(string(bytes.ToLower(v))); err == nil {
			proto = parsed
		}
	} else if u.Scheme == "sips" {
		proto = trunkgroup.TLS
	}
	port := u.Port
	if port == 0 {
		port = proto.DefaultPort()
	}
	at := netip.AddrPortFrom(addr, port)
	if at == fallback.Addr && (proto == fallback.Transport || proto == trunkgroup.UDP) {
		return fallback
	}
	// A name that was given is of all nodes of the cluster. Without one the certificate names the
	// address: of the node that has the dialog now, which is another one after a hand-over.
	name := fallback.ServerName
	if name == fallback.Addr.Addr().String() {
		name = addr.String()
	}
	return transport.Target{Transport: proto, Addr: at, Listener: -1, ServerName: name}
}

// viaName is the transport as a Via header writes it.
func viaName(t trunkgroup.Transport) string {
	switch t {
	case trunkgroup.TCP:
		return "TCP"
	case trunkgroup.TLS:
		return "TLS"
	default:
		return "UDP"
	}
}

// contactURI is our own address as a URI.
func contactURI(user string, t trunkgroup.Transport, at netip.AddrPort) string {
	uri := "sip:" + user + "@" + at.String()
	if t != trunkgroup.UDP {
		uri += ";transport=" + t.String()
	}
	return uri
}

// appendLine appends one header line.
func appendLine(dst []byte, name string, value []byte) []byte {
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...)
}

// appendBody ends the header block and appends the body, which may be empty.
func appendBody(dst, sdp []byte) []byte {
	if len(sdp) > 0 {
		dst = append(dst, "Content-Type: "+typeSDP+"\r\n"...)
	}
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(sdp)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, sdp...)
}

// leaks returns the first of the forbidden texts that msg holds.
func leaks(msg []byte, forbid []string) (string, bool) {
	for _, f := range forbid {
		if f != "" && bytes.Contains(msg, []byte(f)) {
			return f, true
		}
	}
	return "", false
}
