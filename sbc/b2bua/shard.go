package b2bua

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/mint"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

const (
	defaultMaxCalls = 100_000
	defaultMaxOpen  = 200_000
	lingerLimit     = 1 << 20
)

// Shard is a set of calls with everything that they need: transactions,
// dialogs, deadlines. It is stepped by one goroutine and is not safe for more.
type Shard struct {
	cfg  Config
	env  Env
	now  time.Time // of the step in progress
	seed uint64    // keys the hashes of what strangers send
	// handoff are the keys of hand-off tokens: the first signs, all verify.
	handoff  [][]byte
	accounts accounts // our registrations at carriers

	calls     map[*Call]struct{}
	server    map[uint64]*incoming   // requests without a final response, by transaction key
	client    map[uint64]responder   // requests that we sent, by branch
	dialogs   map[uint64]*leg        // by Call-ID and our own tags
	invites   map[uint64]*Call       // our open INVITEs, by the key of DEC-03
	open      map[uint64]openEntry   // other nodes' open INVITEs
	swept     time.Time              // when the table above was last gone through
	done      map[uint64]time.Time   // hand-offs that other nodes had to their end, until no late copy can come
	held      map[uint64]*heldInvite // INVITEs that wait for news of another node's, by the key of DEC-03
	linger    *transaction.Linger[transport.Target]
	alarms    alarms
	registers map[uint64]*registering // REGISTERs that wait for the registrar
	lateByes  int                     // BYEs that are kept for owners that are away
	waits     map[uint64]*wait        // who waits for a share of a limit
	charges   map[uint64]*Call        // those that are charged
	rates     rates                   // uses that end by themselves
	seen      geo.Seen                // call ids that peer sites handed to us
	closing   bool                    // no call begins any more
	drain     DrainOrder
	passed    map[uint64]*passedInvite // INVITEs that siblings have in our place, by the key of DEC-03
	passing   int                      // those of them without a final response
	// passingStreams are those of passing that came over TCP or TLS.
	passingStreams int
	// lastInvite is when a caller began the last call here.
	lastInvite time.Time
	available  availability
	planner    trunkgroup.Planner // of one call after the other
	keyed      keyed              // what distributions hash of it
	query      RouteQuery         // of the call that asks for routes
	machine    policy.Machine     // evaluates the rules of plans
	hot        any                // what is being worked on: a *Call, a responder or a timed
}

// responder is a client transaction.
type responder interface {
	timed
	// respond takes a response that matched by branch and CSeq method.
	respond(m *sip.Message)
	// failed takes the transport's report that a send failed.
	failed(err error)
	// hop is where the request went.
	hop() transport.Target
	// branch is its identity.
	branch() uint64
	// gone tells that nothing will come from there any more.
	gone(err error)
}

// New returns an empty shard. now is the epoch of its deadlines.
func New(cfg Config, env Env, now time.Time) *Shard {
	if cfg.MaxCalls == 0 {
		cfg.MaxCalls = defaultMaxCalls
	}
	if cfg.MaxOpen == 0 {
		cfg.MaxOpen = defaultMaxOpen
	}
	if cfg.Seed == 0 {
		cfg.Seed = OpenSeed(cfg.HandoffKey)
	}
	if cfg.Timers == (transaction.Timers{}) {
		cfg.Timers = transaction.DefaultTimers()
	}
	cfg.Hosts = withAdvertised(cfg.Hosts, cfg.Listeners)
	return &Shard{
		cfg:       cfg,
		env:       env,
		now:       now,
		seed:      cfg.Seed,
		handoff:   [][]byte{cfg.HandoffKey},
		calls:     make(map[*Call]struct{}),
		server:    make(map[uint64]*incoming),
		client:    make(map[uint64]responder),
		dialogs:   make(map[uint64]*leg),
		invites:   make(map[uint64]*Call),
		open:      make(map[uint64]openEntry),
		done:      make(map[uint64]time.Time),
		held:      make(map[uint64]*heldInvite),
		passed:    make(map[uint64]*passedInvite),
		linger:    transaction.NewLinger[transport.Target](lingerLimit),
		alarms:    alarms{epoch: now},
		waits:     make(map[uint64]*wait),
		charges:   make(map[uint64]*Call),
		registers: make(map[uint64]*registering),
	}
}

// OpenSeed derives from the cluster key the seed of the hashes that all nodes
// compute alike (DEC-03).
func OpenSeed(key []byte) uint64 {
	return xxhash.Sum64(append([]byte("tandem open invites "), key...))
}

// CallHash is the hash of a Call-ID that selects the shard of a call. All
// nodes compute the same.
func CallHash(seed uint64, callID []byte) uint64 { return hash2(seed, callID, nil) }

// Deadline returns when Advance is due; the zero time when nothing waits.
func (s *Shard) Deadline() time.Time {
	next := s.alarms.next()
	if l := s.linger.Deadline(); !l.IsZero() && (next.IsZero() || l.Before(next)) {
		return l
	}
	return next
}

// Advance carries out everything that is due at now.
func (s *Shard) Advance(now time.Time) {
	s.now, s.hot = now, nil
	for t := s.alarms.due(now); t != nil; t = s.alarms.due(now) {
		s.hot = t
		t.expire(now)
		s.alarms.set(t)
	}
	s.hot = nil
	s.linger.Expire(now, s.resend)
}

// Receive takes one message in the order in which its socket gave it. The packet
// is the caller's again afterwards, its message is not.
func (s *Shard) Receive(now time.Time, p *Packet) {
	s.now, s.hot = now, nil
	if p.Message.IsRequest() {
		s.request(p)
		return
	}
	s.response(p)
}

// Shed takes a request that waited for too long before the shard got to it. One
// that is known is absorbed as ever; one that would begin something is refused
// without a trace, so that its sender goes elsewhere at once instead of adding
// to the queue by repeating it. What may be an emergency call is looked at like
// any other request (DEC-17): its caller has yet to be identified.
func (s *Shard) Shed(now time.Time, p *Packet) {
	s.now, s.hot = now, nil
	m := p.Message
	if m.Method() == sip.INVITE && s.mayBeEmergency(p) {
		s.request(p)
		return
	}
	if _, elsewhere := s.open[s.openKey(m)]; elsewhere {
		s.request(p) // another node has it, and may have to answer it
		return
	}
	if s.repeated(s.serverKey(m, m.Method())) {
		return
	}
	s.env.Count(Event{Kind: EventReject, Reason: "overload"})
	retry := s.retrySoon()
	if m.Method() != sip.INVITE {
		retry = s.retrySpread()
	}
	var tag [16]byte
	s.env.Send(briefReplyTo(p), s.response1(p, 503, "", s.hashTag(&tag, m), []byte(retry)), 0)
}

// retrySpread is a Retry-After of five to thirty seconds for registrations: a
// storm of them comes back as a drizzle.
func (s *Shard) retrySpread() string {
	return "Retry-After: " + strconv.FormatUint(5+s.env.Random()%26, 10) + "\r\n"
}

// retrySoon is a Retry-After of one to three seconds, spread so that those who
// are refused together do not come back together.
func (s *Shard) retrySoon() string {
	return "Retry-After: " + string(rune('1'+s.env.Random()%3)) + "\r\n"
}

// Failed takes the transport's report that the send with this ref failed.
func (s *Shard) Failed(now time.Time, ref uint64, err error) {
	s.now, s.hot = now, nil
	if tx, ok := s.client[ref]; ok {
		s.hot = tx
		tx.failed(err)
		s.settle(ref, tx)
	}
}

// Stats tells what the shard holds.
type Stats struct {
	// Calls that are neither ended nor ending.
	Calls int
	// Transactions of both kinds without their final response, and client
	// transactions that still wait for repetitions. Requests are those of others
	// among them.
	Transactions, Requests int
	// Dialogs that exist.
	Dialogs int
	// Lingering finished transactions.
	Lingering int
	// Open INVITEs known of other nodes.
	Open int
	// Passed INVITEs that a sibling has in our place, without final response.
	Passed int
	// PassedStreams are those of Passed that came over TCP or TLS.
	PassedStreams int
}

// Stats returns the shard's numbers.
func (s *Shard) Stats() Stats {
	return Stats{
		Calls: len(s.calls), Transactions: len(s.server) + len(s.client), Requests: len(s.server),
		Dialogs: len(s.dialogs), Lingering: s.linger.Len(), Open: len(s.open),
		Passed: s.passing, PassedStreams: s.passingStreams,
	}
}

// response finds the client transaction of a response by its top branch and
// CSeq method alone (RFC 3261 17.1.3): the source address says nothing.
func (s *Shard) response(p *Packet) {
	id, ok := ParseBranch(p.Message.Branch())
	if !ok {
		return
	}
	tx, ok := s.client[id.Token]
	if !ok {
		s.passResponse(p)
		return
	}
	s.hot = tx
	tx.respond(p.Message)
	s.settle(id.Token, tx)
}

func (s *Shard) resend(b []byte, to transport.Target) { s.env.Send(to, b, 0) }

// settle re-arms a client transaction that is still ours after a step.
func (s *Shard) settle(id uint64, tx responder) {
	if s.client[id] == tx {
		s.alarms.set(tx)
	}
}

func (s *Shard) forget(id uint64, tx responder) {
	delete(s.client, id)
	s.alarms.drop(tx)
	if invite, ok := tx.(*inviteTx); ok {
		invite.release()
	}
}

// Branch is what our Via branches say.
type Branch struct {
	// Shard is the index of the shard that sent the request.
	Shard uint8
	// Token is the transaction's identity: random, with the shard in its
	// top byte.
	Token uint64
}

const cookie = sip.MagicCookie

// newBranch draws the identity of a client transaction.
func (s *Shard) newBranch() uint64 {
	return uint64(s.cfg.Index)<<56 | s.env.Random()>>8
}

// appendBranch appends the branch parameter value of an identity.
func appendBranch(dst []byte, token uint64) []byte {
	dst = append(dst, cookie...)
	dst = append(dst, 'T')
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[token>>shift&0xf])
	}
	return dst
}

// ParseBranch reads the branch of a response. It reports false when the branch
// is not one of ours.
func ParseBranch(b []byte) (Branch, bool) {
	if len(b) != len(cookie)+17 || string(b[:len(cookie)]) != cookie || b[len(cookie)] != 'T' {
		return Branch{}, false
	}
	var token uint64
	for _, c := range b[len(cookie)+1:] {
		switch {
		case c >= '0' && c <= '9':
			token = token<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			token = token<<4 | uint64(c-'a'+10)
		default:
			return Branch{}, false
		}
	}
	return Branch{Shard: uint8(token >> 56), Token: token}, true
}

// hash2 hashes two byte strings, told apart by a zero byte.
func hash2(seed uint64, a, b []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.Write(a)
	_, _ = d.Write(zero)
	_, _ = d.Write(b)
	return d.Sum64()
}

var zero = []byte{0}

// dialogKey is the key of a dialog: its Call-ID and our tag, which no two
// dialogs share whatever the far ends do.
func (s *Shard) dialogKey(callID, tag []byte) uint64 { return hash2(s.seed, callID, tag) }

// openKey is the key of an open INVITE over all nodes (DEC-03).
func (s *Shard) openKey(m *sip.Message) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(s.seed)
	_, _ = d.Write(m.CallID())
	_, _ = d.Write(zero)
	_, _ = d.Write(m.FromTag())
	var seq [5]byte
	binary.BigEndian.PutUint32(seq[1:], m.CSeq())
	_, _ = d.Write(seq[:])
	return d.Sum64()
}

// serverKey is the key of a server transaction (RFC 3261 17.2.3): top branch,
// sent-by and method; without the magic cookie, the identity of the request as
// RFC 2543 had it.
func (s *Shard) serverKey(m *sip.Message, method string) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(s.seed ^ 1)
	via := m.TopVia()
	_, _ = d.WriteString(method)
	_, _ = d.Write(zero)
	_, _ = d.Write(via.Host)
	var n [7]byte
	binary.BigEndian.PutUint16(n[1:], via.Port)
	if via.IsRFC3261() {
		_, _ = d.Write(n[:3])
		_, _ = d.Write(via.Branch)
		return d.Sum64()
	}
	binary.BigEndian.PutUint32(n[3:], m.CSeq())
	_, _ = d.Write(n[:])
	_, _ = d.Write(m.CallID())
	_, _ = d.Write(zero)
	_, _ = d.Write(m.FromTag())
	return d.Sum64()
}

// mint draws an identifier for a new dialog of ours.
func (s *Shard) mint() string { return s.cfg.Minter.Mint(s.cfg.Index, s.env.Random()) }

// owner reads which node a dialog identifier names; ok is false when it is not
// one of the cluster's.
func (s *Shard) owner(text []byte) (mint.ID, bool) { return s.cfg.Minter.Parse(text) }
