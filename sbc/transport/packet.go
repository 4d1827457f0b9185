package transport

import (
	"net/netip"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Flow names an open stream connection, accepted or dialled; 0 = none. A number is never used again.
type Flow uint64

// Packet is one received message. Message is the receiver's to keep.
type Packet struct {
	Message   *sip.Message
	Source    netip.AddrPort // IPv4 addresses in IPv4 form
	Local     netip.AddrPort // where it arrived: of UDP the bound address
	Transport trunkgroup.Transport
	Listener  int    // index in Config.Listeners; of a dialled connection the listener it was dialled for, -1 = none
	Flow      Flow   // streams only
	Node      string // the peer node that passed the message on; never set here
}

// Reply returns the target that a response to the packet goes to: its flow, or its source address by the same socket (RFC 3261
// 18.2.2, RFC 3581).
func (p *Packet) Reply() Target {
	return Target{Transport: p.Transport, Addr: p.Source, Listener: p.Listener, Flow: p.Flow, ViaNode: p.Node}
}

// Target says where bytes go. With a Flow they go by that connection or fail; else UDP goes to Addr, and a stream by the pooled
// connection to Addr, dialled when there is none.
type Target struct {
	Transport  trunkgroup.Transport
	Addr       netip.AddrPort
	Listener   int // index of the listener whose socket or address is used; -1 = the first of this transport and family
	Flow       Flow
	ServerName string // TLS: name to ask for and to check; connections of different names are never shared
	Node       string // a peer node reached over the interconnect; such targets are not for this package
	ViaNode    string // the peer node that relays to Addr; not for this package either
	// ViaSocket is the listener of ViaNode to send by; nil leaves it to Listener, which is counted alike on all nodes.
	ViaSocket *ViaSocket
	// ReturnPort makes the bytes a response: when Flow has ended they go to this port at Addr's host (RFC 3261 18.2.2). 0 = not so.
	ReturnPort uint16
}

// ViaSocket is a listener of another node.
type ViaSocket struct {
	Local     netip.AddrPort // the bound address; zero when the flow says all
	Advertise string         // "host:port" for Via and Contact; empty = unknown
}

// Handler receives what the sockets give. Its methods are called by reader, writer and dialler goroutines at once and must not
// block. Failed is also called from inside Batch.Send and Batch.Flush, by their caller's goroutine.
type Handler interface {
	// Packets gives the messages of one read, in order. The slice is reused after the return.
	Packets(batch []Packet)
	// Reject gives a message that the gate refused and that can be answered: p.Message is f.Message. When f.Close is set the
	// connection closes as soon as what is sent on the flow has left, or Limits.CloseLinger has passed.
	Reject(p Packet, f *sip.Fault)
	// Failed reports that bytes given to Send did not get through. ref is the one given to Send, but 0 for an *ICMPError, which
	// names the request by its branch. Bytes that a dead connection swallowed may fail after a delay.
	Failed(ref uint64, t Target, err error)
	// Closed reports the end of a flow that a Packet may have named.
	Closed(f Flow)
}
