package b2bua

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Env is the world as a Shard sees it. All methods are called from the shard's
// own goroutine and must not block.
type Env interface {
	Wire
	Facts
	Cluster
	Registrar
	Limits
	Router
	Charger
	Hooks
	Observer
}

// Wire is the way out.
type Wire interface {
	// Send puts bytes on the wire. The bytes never change afterwards. A
	// failure comes back as Failed(ref) when ref is not zero.
	Send(t transport.Target, b []byte, ref uint64)
}

// Facts are what decisions stand on.
type Facts interface {
	// Routing returns the table and the view in force; nil before the first.
	Routing() (*trunkgroup.Table, *trunkgroup.View)
	// Isolated reports that the node believes to have lost the network: calls
	// are still tried, but an OPTIONS is answered 503 (DEC-12).
	Isolated() bool
	// Random returns 64 random bits that nobody can guess.
	Random() uint64
	// Turn returns the next turn of a group's round robin.
	Turn(g *trunkgroup.Group) uint64
}

// Cluster is the other nodes.
type Cluster interface {
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
}

// Observer hears what calls do.
type Observer interface {
	// Evidence reports what a call saw of a member (DEC-11).
	Evidence(m *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string)
	// Paused reports that a member asked for a pause with Retry-After in a
	// call's 503 (DEC-11).
	Paused(m *trunkgroup.Member, addr netip.AddrPort, d time.Duration)
	// CallUp takes the record so far of a call that was answered. It must not be
	// kept: the call goes on writing to it.
	CallUp(r *cdr.Record)
	// Finished takes a call's record.
	Finished(r *cdr.Record)
	// CallDown tells that a call of CallUp is over, after its Finished.
	CallDown(id string)
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
	EventPassed
	// EventAccount: what became of a challenge, or of an INVITE to our registration.
	EventAccount
	EventRegister
	EventEmergency
	// EventAuthenticated: a digest user proved himself at Source.
	EventAuthenticated
	// EventRouteFault: something of a route that was decided was not done; Reason says what,
	// Detail is the route's own text.
	EventRouteFault
	// EventPolicyFault: a rule of a Plan could not be evaluated, Reason says which, Detail why.
	EventPolicyFault
	// EventRouteFailed: an attempt of a call by routes has failed, at once. EventRouteAdvance:
	// such a call goes on to another far end.
	EventRouteFailed
	EventRouteAdvance
	// EventFailover: a call goes on to somebody else. Result is the scope: ScopeMember, ScopeGroup
	// or ScopeSite; Group is left for Next, in the sites From and To.
	EventFailover
	// EventTransaction: a transaction has had its final response after Wait. Result tells whether
	// the request was ours: "client", else "server".
	EventTransaction
)

// Event is one countable thing. Only the fields that its kind needs are set.
type Event struct {
	Kind  EventKind
	Group *trunkgroup.Group
	// Next is the group that a call goes on to, for EventFailover.
	Next *trunkgroup.Group
	// Member that an attempt went to, or that answered a call which has ended; nil
	// where it is of another site.
	Member *trunkgroup.Member
	// Direction of the call is "inbound" or "outbound".
	Direction string
	// From and To are sites, for EventHandoff and EventFailover; To is a node, for EventPassed.
	// Of an EventPDD after a failover Result is its scope, To the site, and Wait the time until then.
	From, To string
	// Result and Reason are label values: words of ours, never text of a
	// message.
	Result, Reason string
	// Call is the id of the call, of events about its routes.
	Call string
	// Detail is what others wrote: it may be logged, quoted, and is never a label.
	Detail string
	// Method is the request's, for EventRetransmission and EventTransaction.
	Method string
	// Plan and Carrier are those of the attempt's, or the call's, route, where somebody
	// else has decided; Called is the number in E.164. Of an attempt Rang tells whether it
	// showed progress or was answered, and Wait after how long.
	Plan, Carrier, Called string
	Rang                  bool
	Wait                  time.Duration
	// Code is the attempt's, Dialed whether its INVITE left, Final whether
	// the code came from the far end.
	Code          int
	Dialed, Final bool
	// Answered tells whether the call was, for EventCallEnded.
	Answered bool
	// Source is who failed, for EventAuthFailure, and Proven whether it is
	// really there: a stream, or a datagram that answers a challenge we sent it.
	// For EventAuthenticated it is. Of an EventRegister that was refused Source is
	// who sent it, and Member whose it would have been, if anybody's.
	Source netip.AddrPort
	Proven bool
	// Value is seconds for EventPDD and for EventCallEnded (answered time).
	Value float64
}
