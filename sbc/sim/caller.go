package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Node is one address of the SBC as a caller's SRV records would list it.
type Node struct {
	Name       string               `json:"name"` // for reports; default: the address
	Addr       netip.AddrPort       `json:"addr"`
	Transport  trunkgroup.Transport `json:"transport"`             // default UDP
	ServerName string               `json:"server_name,omitempty"` // of TLS; default: the address
	// Priority and Weight are those of its SRV record; see CallerConfig.SRV.
	Priority uint16 `json:"priority,omitempty"`
	Weight   uint16 `json:"weight,omitempty"`
}

// CallerConfig describes the calling side.
type CallerConfig struct {
	Name  string `json:"name"`  // user agent's name; default "caller"
	Nodes []Node `json:"nodes"` // tried in order, each at most once per call
	// Spread starts each call at the next node of the list, as SRV records of equal priority do; otherwise every call
	// starts at the first.
	Spread bool `json:"spread,omitempty"`
	// SRV chooses nodes by Priority and Weight (RFC 2782) instead of by their order.
	SRV bool `json:"srv,omitempty"`
	// Avoid puts a node that gave no answer, refused or sent 503 last for this long; 0 = it is asked again by the next call.
	Avoid time.Duration `json:"avoid_ns,omitempty"`
	// NodeTimeout is how long a node may stay silent before the next one is asked; default 64*T1 (RFC 3263 4.3).
	NodeTimeout time.Duration `json:"node_timeout_ns,omitempty"`
	// SetupTimeout ends a call that has no final response by CANCEL; default 120 s.
	SetupTimeout time.Duration `json:"setup_timeout_ns,omitempty"`
	// Stay takes a 503 as the final answer instead of asking the next node.
	Stay        bool         `json:"stay,omitempty"`
	Host        string       `json:"host,omitempty"` // host part of Request-URI and To; default: the node's address
	Credentials *Credentials `json:"credentials,omitempty"`
	Timers      Timers       `json:"timers"`
	Seed        uint64       `json:"seed"`
	Forbid      []string     `json:"forbid,omitempty"` // texts that no message may hold
	Tap         Tap          `json:"-"`
	// Done is called with the record of each finished call, inside the core: it must be quick and must not call back.
	Done func(*CallRecord) `json:"-"`
}

// Caller is the pure core of the calling side: it places calls, follows them and
// records how each ended. It is not safe for concurrent use and does no I/O.
type Caller struct {
	cfg   CallerConfig
	nodes []*node
	send  Sender
	rng   *rand.Rand
	mem   arena
	run   string // distinguishes this caller's ids from another's

	calls  []*call
	free   []uint32 // first in, first out: a late message must not meet a new call
	freeAt int
	agenda agenda[*call]
	turn   int

	now     time.Time // of the call into the core that is running
	counts  Counts
	faults  faultLog
	pdd     Histogram
	setup   Histogram
	bye     Histogram
	names   map[string]string // of members, interned
	session uint64
}

// node is a Node with what is precomputed for it.
type node struct {
	Node
	target  transport.Target
	sentBy  string // our own address towards it
	local   netip.AddrPort
	host    string // host part of the Request-URI
	via     string // "Via: SIP/2.0/UDP host:port;rport;branch="
	contact string // "host:port" with transport parameter, behind "sip:user@"
	avoid   time.Time
	nonce   *challenge // the last one, for Credentials.Reuse
	flow    transport.Flow
}

// NewCaller returns a caller. local returns our own address towards a node.
func NewCaller(cfg CallerConfig, local func(Node) netip.AddrPort, send Sender) (*Caller, error) {
	if len(cfg.Nodes) == 0 || len(cfg.Nodes) > 64 {
		return nil, fmt.Errorf("caller: %d nodes; want 1 to 64", len(cfg.Nodes))
	}
	cfg.Timers = cfg.Timers.withDefaults()
	if cfg.Name == "" {
		cfg.Name = "caller"
	}
	if cfg.NodeTimeout <= 0 {
		cfg.NodeTimeout = cfg.Timers.lifetime()
	}
	if cfg.SetupTimeout <= 0 {
		cfg.SetupTimeout = 2 * time.Minute
	}
	c := &Caller{
		cfg: cfg, send: send,
		rng:   rand.New(rand.NewPCG(cfg.Seed, nameSeed(cfg.Name))),
		names: make(map[string]string),
		counts: Counts{
			Results: make(map[Result]int), Finals: make(map[int]int), Nodes: make(map[string]int), Members: make(map[string]int),
		},
	}
	c.run = strconv.FormatUint(c.rng.Uint64()|1<<63, 36)[:8]
	c.session = c.rng.Uint64() >> 20
	for _, n := range cfg.Nodes {
		c.nodes = append(c.nodes, newNode(cfg, n, local))
	}
	return c, nil
}

func newNode(cfg CallerConfig, n Node, local func(Node) netip.AddrPort) *node {
	if n.Transport == 0 {
		n.Transport = trunkgroup.UDP
	}
	if n.Name == "" {
		n.Name = n.Addr.String()
	}
	if n.ServerName == "" && n.Transport == trunkgroup.TLS {
		n.ServerName = n.Addr.Addr().String()
	}
	own := local(n)
	r := &node{Node: n, local: own, sentBy: own.String(), host: cfg.Host, contact: own.String()}
	r.target = transport.Target{Transport: n.Transport, Addr: n.Addr, Listener: -1, ServerName: n.ServerName}
	if r.host == "" {
		r.host = n.Addr.String()
	}
	if n.Transport != trunkgroup.UDP {
		r.contact += ";transport=" + n.Transport.String()
	}
	r.via = "Via: SIP/2.0/" + viaName(n.Transport) + " " + r.sentBy + ";rport;branch="
	return r
}

// Counts returns a copy of the running totals.
func (c *Caller) Counts() Counts { return c.counts.clone() }

// Faults returns the breaches of protocol by the SBC, the first 1000, and their
// number.
func (c *Caller) Faults() ([]Fault, int) {
	return append([]Fault(nil), c.faults.list...), c.faults.count
}

// Histograms returns copies of the post-dial delay, the time to the answer and
// the time from BYE to its answer.
func (c *Caller) Histograms() (pdd, setup, bye Histogram) {
	return c.pdd.Clone(), c.setup.Clone(), c.bye.Clone()
}

// Deadline returns when Expire wants to run next, zero for never.
func (c *Caller) Deadline() time.Time { return c.agenda.next() }

// Expire does all that is due at now.
func (c *Caller) Expire(now time.Time) {
	c.now = now
	for {
		k, ok := c.agenda.pop(now)
		if !ok {
			return
		}
		c.expire(k)
	}
}

// Receive takes one message from the wire.
func (c *Caller) Receive(now time.Time, p *transport.Packet) {
	c.now = now
	m := p.Message
	if c.cfg.Tap != nil {
		c.cfg.Tap(now, In, m.Raw())
	}
	if text, bad := leaks(m.Raw(), c.cfg.Forbid); bad {
		c.faults.add(now, FaultLeak, string(m.CallID()), strconv.Quote(text)+" in "+startLine(m))
	}
	if p.Flow != 0 {
		c.learnFlow(p)
	}
	if m.IsRequest() {
		c.request(p)
		return
	}
	t, ok := c.parseToken(m.Branch(), len(magic))
	if !ok {
		c.faults.add(now, FaultStray, string(m.CallID()), startLine(m))
		return
	}
	k := c.lookup(t)
	if k == nil {
		c.orphan(p)
		return
	}
	switch m.CSeqMethod() {
	case sip.INVITE:
		c.inviteResponse(k, t, p)
	case sip.CANCEL:
		c.cancelResponse(k, t, m)
	default:
		c.dialogResponse(k, t, p)
	}
	c.schedule(k)
}

// Malformed takes a message that the parser refused.
func (c *Caller) Malformed(now time.Time, f *sip.Fault) {
	c.faults.add(now, FaultParse, "", strconv.Itoa(f.Code)+" "+f.Reason)
}

func (c *Caller) transmit(t transport.Target, data []byte, ref uint64) {
	if c.cfg.Tap != nil {
		c.cfg.Tap(c.now, Out, data)
	}
	c.send(t, data, ref)
}

func (c *Counts) clone() Counts {
	r := *c
	r.Results, r.Finals = maps.Clone(c.Results), maps.Clone(c.Finals)
	r.Nodes, r.Members = maps.Clone(c.Nodes), maps.Clone(c.Members)
	return r
}
