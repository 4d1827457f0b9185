package b2bua

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/fraud"
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
	// Addr is the address that the socket is bound to; zero fits none.
	Addr netip.AddrPort
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
	// HandoffKey signs hand-off tokens (DEC-08); Shard.SetKeys replaces it.
	HandoffKey []byte
	// Seed keys the hashes that all nodes compute alike (DEC-03); it outlives the keys. 0 means
	// OpenSeed of HandoffKey.
	Seed uint64
	// Fraud counts what customers do; nil bounds nothing.
	Fraud *fraud.Watch
	// Sessions counts calls by far end; nil counts none, and nothing sticks.
	Sessions Sessions
	// Interim is how often a call that is up has a record of kind interim, which goes to
	// Interims; 0 means never. Interims must not block.
	Interim  time.Duration
	Interims func(*cdr.Record)
	// MaxCalls bounds the calls of this shard; 0 means 100,000.
	MaxCalls int
	// UserAgent is sent as User-Agent and Server; empty sends neither.
	UserAgent string
	// Hosts are the names and addresses of this node, lower case, IPv6 in
	// brackets: what a call may name beside the document's domains.
	Hosts map[string]struct{}
	// Domains says whose calls must name them.
	Domains DomainCheck
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
	// OpenReturned: the node does not take an INVITE that was passed to it.
	OpenReturned
	// OpenParted: the node that passed an INVITE ends; its sibling answers the
	// caller itself.
	OpenParted
)
