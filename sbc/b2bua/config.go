package b2bua

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Listener is what the engine needs to know of a transport listener.
type Listener struct {
	// Transport is what the listener speaks.
	Transport trunkgroup.Transport
	// Advertise is the "host:port" put into Via and Contact: the address at
	// which the far end reaches this listener.
	Advertise string
	// IPv6 tells the listener's address family.
	IPv6 bool
}

// Config is what a Shard is built from. It must not change after New.
type Config struct {
	// Node and Site name this node and where it stands.
	Node, Site string
	// Boot is this node's boot number (DEC-13).
	Boot uint32
	// Index is this shard's number on its node.
	Index uint8
	// Listeners are the node's listeners, by transport index.
	Listeners []Listener
	// Timers are the SIP timers T1, T2 and T4.
	Timers transaction.Timers
	// Minter makes dialog identifiers; it belongs to this shard.
	Minter *mint.Minter
	// Verifier checks digest credentials; nil refuses all of them.
	Verifier *auth.Verifier
	// HandoffKey signs hand-off tokens (DEC-08).
	HandoffKey []byte
	// MaxCalls bounds the calls of this shard; 0 means 100,000.
	MaxCalls int
	// UserAgent is sent as User-Agent and Server; empty sends neither.
	UserAgent string
	// MaxOpen bounds the open INVITEs known of other nodes; 0 means 200,000.
	MaxOpen int
}

// Packet is a SIP message with where it came from.
type Packet struct {
	transport.Packet
	// Peer is the node that sent the message over the interconnect as a
	// leg of a hand-off; empty for everything from outside.
	Peer string
	// Relay is the node that received the message from outside and passed
	// it on to us as the owner (DEC-03, DEC-09); answers go back through it.
	Relay string
}

// Open is one open INVITE as nodes tell each other about it (DEC-03).
type Open struct {
	// Key identifies the INVITE over all nodes: Call-ID, From tag and CSeq.
	Key uint64
	// CallHash selects the shard that keeps the entry; 0 means all of them.
	CallHash uint64
	// Branch is the hash of the top branch.
	Branch uint64
	// State is what happened.
	State OpenState
	// Nonce is the digest nonce that identified the caller, if one did: its
	// replay at another node is refused (DEC-25).
	Nonce auth.Use
}

// OpenState is what a node tells of an open INVITE.
type OpenState uint8

// The states of an open INVITE.
const (
	// OpenBegun: the node has taken the INVITE and hunts.
	OpenBegun OpenState = iota + 1
	// OpenProgress: a 18x went to the caller.
	OpenProgress
	// OpenClosed: the INVITE has its final response.
	OpenClosed
	// OpenGiveUp asks the owner to give up its hunt as on a CANCEL.
	OpenGiveUp
)

// Env is the world as a Shard sees it. All methods are called from the shard's
// own goroutine and must not block.
type Env interface {
	// Send puts bytes on the wire. The bytes never change afterwards. A
	// failure comes back as Failed(ref) when ref is not zero.
	Send(t transport.Target, b []byte, ref uint64)
	// Routing returns the table and the view in force.
	Routing() (*trunkgroup.Table, *trunkgroup.View)
	// Isolated reports that the node believes to have lost the network: calls
	// are still tried, but an OPTIONS is answered 503 (DEC-12).
	Isolated() bool
	// Random returns 64 random bits that nobody can guess.
	Random() uint64
	// Turn returns the next turn of a group's round robin.
	Turn(g *trunkgroup.Group) uint64
	// Peers returns the nodes of other sites that could take a hand-off.
	Peers() []geo.PeerNode
	// Peer tells of another node by its mint.NodeID: its name, its boot as
	// last seen, whether the interconnect to it is up, and for how long it
	// has not been.
	Peer(id uint32) (p PeerState, known bool)
	// Up reports whether another node is up, by name.
	Up(node string) bool
	// Share tells all other nodes of an open INVITE.
	Share(o Open)
	// ShareWith tells one node.
	ShareWith(node string, o Open)
	// Forward passes a packet to the node that owns its dialog or INVITE.
	// It reports false when the node cannot be reached now.
	Forward(node string, p *Packet) bool
	// Evidence reports what a call saw of a member (DEC-11).
	Evidence(m *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string)
	// Paused reports that a member asked for a pause with Retry-After in a
	// call's 503 (DEC-11).
	Paused(m *trunkgroup.Member, addr netip.AddrPort, d time.Duration)
	// Finished takes a call's record.
	Finished(r *cdr.Record)
	// Count takes one event for the metrics.
	Count(e Event)
	// Pinged takes the outcome of a probe begun with Ping.
	Pinged(token uint64, r PingResult)
}

// PeerState is what is known of another node.
type PeerState struct {
	Name string
	Boot uint32
	Up   bool
	// Down is for how long the node has been away; 0 while Up.
	Down time.Duration
}

// PingResult is the outcome of one OPTIONS.
type PingResult struct {
	// Code is the final status, 0 when none came.
	Code int
	// RTT is the time from the request to its final response.
	RTT time.Duration
	// RetryAfter is the value of the response's Retry-After.
	RetryAfter time.Duration
	// Err is the transport's error; nil with Code 0 means no answer in time.
	Err error
}

// EventKind names a thing that metrics count.
type EventKind uint8

// The kinds of events.
const (
	EventCallStarted EventKind = iota + 1
	EventCallEnded
	EventAttempt
	EventHandoff
	EventPDD
	EventReject
	EventHandoffHeader
	EventRetransmission
	EventAuthFailure
	EventLoop
)

// Event is one countable thing. Only the fields that its kind needs are set.
type Event struct {
	Kind   EventKind
	Group  *trunkgroup.Group
	Member *trunkgroup.Member
	// Direction of the call is "inbound" or "outbound".
	Direction string
	// From and To are sites, for EventHandoff.
	From, To string
	// Result and Reason are label values: words of ours, never text of a
	// message.
	Result, Reason string
	// Method is the request's, for EventRetransmission.
	Method string
	// Code is the attempt's, Dialed whether its INVITE left, Final whether
	// the code came from the far end.
	Code          int
	Dialed, Final bool
	// Answered tells whether the call was, for EventCallEnded.
	Answered bool
	// Value is seconds for EventPDD and for EventCallEnded (answered time).
	Value float64
}
