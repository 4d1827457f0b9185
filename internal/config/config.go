package config

import (
	"log/slog"
	"net/netip"
	"time"
)

// Config is a node's whole configuration. It must not be modified after Load.
type Config struct {
	// Path is the file that was read. Relative paths in it are relative to its directory; here they
	// are complete.
	Path string
	// Name is this node's name, unique in the cluster, and Site the place where it stands.
	Name, Site string
	// Witness nodes vote in Raft and carry no calls: they have no listeners.
	Witness bool
	// DataDir holds what must survive a restart: the last known good table, the Raft log, the boot
	// counter, the call records.
	DataDir string
	// ClockOffset is added to this node's clock where nodes compare clocks. It is for tests of clocks that
	// are wrong; 0 in any real file.
	ClockOffset time.Duration

	Listeners    []Listener
	Interconnect Endpoint
	Cluster      Cluster
	Admin        Admin
	CDR          CDR
	Log          Log
	SIP          SIP
	DNS          DNS
	Drain        Drain
	SoftState    SoftState
	Metrics      Metrics
	Doors        Doors
	Diameter     Diameter
}

// Endpoint is an address that this node binds, and the one that others are told.
type Endpoint struct {
	Address netip.AddrPort
	// Advertise equals Address unless the file says otherwise. It is needed behind a NAT and when
	// Address is 0.0.0.0 or [::].
	Advertise netip.AddrPort
}

// Listener is one SIP socket.
type Listener struct {
	// Name is unique in the node; logs and metrics use it.
	Name string
	// Transport is "udp", "tcp", "tls", "ws" or "wss".
	Transport string
	Endpoint
	// Zone says which side the listener faces, in words of the operator's own ("access", "carrier").
	Zone string
	// TLS is set for the transports tls and wss and only there.
	TLS TLS
	// WebSocket is for the transports ws and wss.
	WebSocket WebSocket
	// Allow and Deny are its access list: the longest network that covers an address decides, and who is
	// in none is denied when Allow has entries.
	Allow, Deny []netip.Prefix
}

// TLS names the files of one side of TLS connections, in PEM.
type TLS struct {
	// Cert is the certificate with its chain, Key its private key.
	Cert, Key string
	// CA holds the authorities that the other side's certificate must come from. A listener with CA
	// set asks every caller for a certificate; without it, it asks nobody. For connections that this
	// node opens, empty means the system's authorities.
	CA string
}

// Cluster says how this node finds the others and what they share.
type Cluster struct {
	// ID names the cluster; a document with another id is refused.
	ID string
	// Keys are the 32-byte secrets that every node holds. They encrypt gossip and authenticate the
	// streams between nodes. The first is the one that this node uses; the others it still accepts.
	Keys []Secret
	// KeyFile is the file that they came from, or empty, and Seed what it says of the hashes that all nodes compute alike; see KeyFile.
	KeyFile string
	Seed    uint64
	// TLS is how this node proves itself on the streams between nodes.
	TLS ClusterTLS
	// Reload is how often the files of keys and certificates are looked at.
	Reload time.Duration
	// Gossip is the address of membership messages, over UDP and TCP.
	Gossip Endpoint
	// Raft is the address of the configuration log, or the zero value when the interconnect carries
	// both.
	Raft Endpoint
	// Voters are the nodes that found the configuration log together. It matters once, at the first
	// start of the cluster, and must be the same in every voter's file.
	Voters []Voter
	// Peers are the other nodes that this one dials when it starts and whenever it misses them.
	Peers []Peer
	// DialMap sends dials to a relay or NAT address in place of the one that a peer advertises.
	DialMap []DialRule
	// Document is the file of the cluster document to begin with when the cluster has none, or empty. It
	// need not be there later.
	Document string
}

// Voter is one founding member of the configuration log.
type Voter struct {
	Name string
	// Address is host:port of its Raft endpoint.
	Address string
}

// Peer is another node of the cluster.
type Peer struct {
	Name, Site string
	// Gossip and Interconnect are host:port as the peer advertises them.
	Gossip, Interconnect string
}

// DialRule says that Address is reached by dialling Via; both are host:port.
type DialRule struct {
	Address, Via string
}

// Admin is where the admin API answers.
type Admin struct {
	// Network is "unix" or "tcp", Address the path or host:port, as package net wants them.
	Network, Address string
	// Token is what a client over TCP must present, or empty when the file names none.
	Token Secret
	// Metrics is a further address for /metrics, /livez and /readyz without the rest of the API, or
	// the zero value.
	Metrics netip.AddrPort
	// Remote is a further address that other machines may reach: the whole API over TLS.
	Remote AdminRemote
}

// AdminRemote is where the admin API answers other machines. The zero value: nowhere.
type AdminRemote struct {
	Address netip.AddrPort
	// TLS proves the node; with a CA, clients must prove themselves by certificates of it.
	TLS TLS
}

// Log says what is logged to standard error.
type Log struct {
	Level slog.Level
	// JSON selects one JSON object per line in place of text.
	JSON bool
}

// SIP holds what the signalling of this node needs beside its listeners.
type SIP struct {
	// Realm is what digest challenges name; credentials of the cluster document are made for it. Empty
	// (written "-") = unknown callers are refused without a challenge.
	Realm string
	// DoNotOriginate is a file of callers that nobody may show, one number or pattern per line, or
	// empty. It is read again when it changes.
	DoNotOriginate string
	// Domains are further hosts, in lower case, that calls to this node may name: of a balancer in
	// front, of a second name in DNS.
	Domains []string
	// StrictDomains says whose calls must name a host of ours: "users" (who are known by digest),
	// "all" (trunks too) or "off".
	StrictDomains string
	// UserAgent is the product that User-Agent and Server name; empty (written "-") = no such header.
	UserAgent string
	// Shards is the number of goroutines that own calls; 0 = one per core.
	Shards int
	// T1, T2 and T4 are the timers of RFC 3261 section 17.
	T1, T2, T4 time.Duration
	Limits     Limits
	// TLS is used for connections that this node opens.
	TLS TLS
}

// Limits bound what strangers can make this node hold.
type Limits struct {
	// Calls bounds the calls of this node; 0 = what its shards can hold.
	Calls int
	// Connections and ConnectionsPerSource bound accepted TCP and TLS connections, of the node and of
	// one IPv4 address or IPv6 /64.
	Connections, ConnectionsPerSource int
}

// DNS says which servers resolve names of members.
type DNS struct {
	// Servers are asked in order; empty = those of the system.
	Servers []netip.AddrPort
}
