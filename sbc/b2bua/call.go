package b2bua

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/limit"
	"github.com/tandem-sbc/tandem/sbc/fraud"
	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transaction"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// phase is where a call stands.
type phase uint8

const (
	// hunting: the caller's INVITE has no final response. Left by an answer
	// or by a final failure.
	hunting phase = iota
	// answered: the 2xx went to the caller, its ACK has not come. Left by
	// the ACK, by a BYE, or after 64*T1.
	answered
	// up: both legs are confirmed. Left by a BYE of either side.
	up
	// ending: our BYEs are out and one of them has no answer yet, or the
	// caller who hung up has not confirmed the answer; a BYE that crosses is
	// answered 200.
	ending
	// settling: the caller has its failure; the peer site has yet to say what
	// it tried. Left by its final response or after 64*T1.
	settling
	// over: the record is written; nothing of the call is in the shard.
	over
)

// Call is one call: the caller's leg, its attempts and the callee's leg. Only
// its shard touches it.
type Call struct {
	place
	s     *Shard
	id    string
	phase phase

	// The caller's INVITE.
	in      *incoming
	msg     *sip.Message // as received; attempts are shaped from it (S-082)
	a       *leg
	tag     string // To tag of the responses to the caller, now
	forks   []fork
	sdpSent bool // an SDP went to the caller in a 1xx
	sdpFrom early
	sdpTag  string // under which

	// Who and where to.
	dir       direction
	peer      string // the node that handed the call to us
	token     handedOver
	ingress   *trunkgroup.Group
	customer  *trunkgroup.Group
	user      string // digest user
	prefix    string // tech prefix of the source
	called    string // E.164
	rn        string // routing number of a ported number, E.164
	calledRaw string
	callerRaw string
	ani       string // that is shown in place of the caller's number (P-29)
	source    netip.AddrPort
	local     netip.AddrPort // ours, that received the INVITE
	proto     trunkgroup.Transport

	// What it uses of what has limits.
	uses []limit.Use // nil before it is admitted
	seat Seat        // at the callee, once it has answered
	wait *wait

	// Where it goes, before it hunts.
	stage  stage
	groups []*trunkgroup.Group   // by the document
	asks   *trunkgroup.RoutePlan // whose routes others decide; nil for most
	routes *trunkgroup.RouteSet  // what they decided
	lc     *routing              // how far it has got with that; nil for most
	secure bool                  // to a sips address
	// ruledBy is what the rules of its plan did with it.
	ruledBy ruledCall

	// The hunt.
	seq    *hunt.Sequence
	cands  []trunkgroup.Candidate
	sticks []stick // by which it keeps to a far end, until it is answered
	hashed bool    // a distribution goes by a key of it
	// peerFirst: that far end takes the calls of the peer site.
	peerFirst bool
	tries     []*try
	failover  failover
	event     *sip.Message // the response being worked on
	todo      []hunt.Action
	busy      bool
	hand      *handing
	openAt    openKeys
	// definitive: the final failure is the callee's last word.
	definitive bool

	// The answer and what follows.
	b         *leg
	winner    *try
	answer    transaction.Answer
	answerOut []byte
	answerTo  transport.Target
	lateOffer bool
	inviteSeq uint32
	reinvite  [2]*reinvite // by direction: from the caller, from the callee
	relays    []*relayed
	byeLater  *byeOrder
	byes      int
	maxEnd    time.Time
	interim   interim
	half      half      // the other half of a call that was handed over
	halfCheck time.Time // when to look whether the other half of the call lives

	times    times
	rec      *cdr.Record // kept once the hunt is over
	finished bool
	seqBegun bool
	end      outcome
	fraud    *fraud.Use // nil for a call that nobody counts
	charge   *charged   // nil for a call that nobody charges
	test     bool       // an operator's test call
}

type direction uint8

const (
	inbound direction = iota + 1
	outbound
)

// directionOf reads the word of a decision; a call that nobody was found for has
// none.
func directionOf(word string) direction {
	switch word {
	case trunkgroup.Inbound:
		return inbound
	case trunkgroup.Outbound:
		return outbound
	}
	return 0
}

func (d direction) String() string {
	if d == outbound {
		return "outbound"
	}
	return "inbound"
}

// times are the instants of a call.
type times struct {
	start, progress, answer, end time.Time
}

// outcome says how a call ended.
type outcome struct {
	code   int
	reason string
	cause  string // our word for it
	party  string // caller, callee, system
	extra  string // header lines of the final response
}

// early names an early dialog of the B side: an attempt and the To tag in it.
type early struct {
	attempt int
	tag     string
}

// fork is an early dialog of the B side with the tag that the caller knows it
// by (DEC-01).
type fork struct {
	early
	aTag string
}

// deadline is the earliest thing that the call waits for: it has one timer.
func (c *Call) deadline() time.Time {
	switch c.phase {
	case hunting:
		if c.idle() {
			return c.wait.deadline()
		}
		d := c.seq.Deadline()
		if c.hand != nil {
			d = earliest(d, c.hand.machine.Deadline())
		}
		return d
	case answered:
		return earliest(c.answer.Deadline(), earliest(c.maxEnd, c.interim.next))
	case up:
		d := earliest(earliest(c.maxEnd, c.interim.next), c.halfCheck)
		for _, r := range c.reinvite {
			if r != nil {
				d = earliest(d, r.deadline())
			}
		}
		return d
	default:
		return c.answer.Deadline()
	}
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// expire does what is due.
func (c *Call) expire(now time.Time) {
	switch c.phase {
	case hunting:
		if c.idle() {
			c.stopWaiting(now)
			return
		}
		if d := c.seq.Deadline(); !d.IsZero() && !now.Before(d) {
			c.do(c.fresh().Expire(now))
		}
		if c.phase == hunting && c.hand != nil {
			c.hand.expire(now)
		}
	case answered, up, ending:
		c.expireAnswered(now)
	}
}

// arm sets the call's timer after an event.
func (c *Call) arm() {
	if c.phase != over {
		c.s.alarms.set(c)
	}
}

// do carries out the sequence engine's actions in order. An action may cause
// an event at once, whose actions then queue behind.
func (c *Call) do(actions []hunt.Action) {
	c.todo = append(c.todo, actions...)
	if c.lc != nil {
		c.tellAttempts()
	}
	if c.busy {
		return
	}
	c.busy = true
	for i := 0; i < len(c.todo); i++ { //nolint:intrange // todo grows inside
		c.perform(c.todo[i])
	}
	c.todo, c.busy = c.todo[:0], false
	c.arm()
}

func (c *Call) perform(a hunt.Action) {
	if c.phase != hunting {
		return
	}
	switch a.Kind {
	case hunt.Dial:
		c.dial(a.Attempt, a.Target)
	case hunt.Abandon:
		c.abandon(a.Attempt, a.Cause)
	case hunt.Relay:
		c.relayProvisional(early{a.Attempt, string(c.event.ToTag())}, c.event)
	case hunt.Answer:
		c.bridge(c.try(a.Attempt), c.event)
	case hunt.Handoff:
		c.handOff(a.Budget)
	case hunt.RelayHandoff:
		c.relayProvisional(early{handoffAttempt, string(c.event.ToTag())}, c.event)
	case hunt.AnswerHandoff:
		c.bridge(c.hand.winner, c.event)
	case hunt.CancelHandoff:
		if c.hand != nil {
			c.hand.cancel()
		}
	case hunt.Forward, hunt.ForwardHandoff, hunt.Fail:
		if c.lc == nil || !c.reroute(a) {
			c.give(a)
		}
	}
}

// give gives the caller the failure that the sequence engine came to.
func (c *Call) give(a hunt.Action) {
	switch a.Kind {
	case hunt.Forward:
		c.definitive = a.Definitive
		c.forward(c.try(a.Attempt))
	case hunt.ForwardHandoff:
		c.forward(c.hand.refusal)
	default:
		c.definitive = a.Definitive
		c.failHunt(a.Code, a.Cause)
	}
}

// idle reports whether the call has nobody in flight and waits for others: before its
// hunt, or for other routes when those that it had have failed.
func (c *Call) idle() bool { return c.seq == nil || c.wait != nil }

// abandon gives an attempt up.
func (c *Call) abandon(attempt int, cause string) {
	t := c.try(attempt)
	if t != nil {
		t.stopWaiting()
	}
	if t == nil || t.tx == nil {
		c.seq.Unsent(attempt)
		return
	}
	t.tx.elsewhere = cause == hunt.CauseElsewhere
	if t.saidNothing(cause) {
		t.evidence(false, hunt.CauseNoResponse)
	}
	t.tx.abandon()
}

func (c *Call) try(attempt int) *try {
	for _, t := range c.tries {
		if t.index == attempt {
			return t
		}
	}
	return nil
}

// cancelled takes a CANCEL for one of the call's open INVITEs.
func (c *Call) cancelled(in *incoming) {
	if in == c.in {
		c.cancel()
		return
	}
	for _, r := range c.reinvite {
		if r != nil && r.in == in && r.open {
			r.tx.cancel()
		}
	}
}

// cancel gives the hunt up for the caller: nothing advances, no B leg rings on, the
// caller gets 487 (V18).
func (c *Call) cancel() {
	if c.phase == hunting {
		c.end.party = partyCaller
		c.callOff()
	}
}

// callOff ends a hunt with a 487, also one that waits for others.
func (c *Call) callOff() {
	if c.idle() {
		c.fail(487, hunt.CauseCancelled)
		return
	}
	c.do(c.seq.Cancel(c.s.now))
}

const (
	partyCaller = "caller"
	partyCallee = "callee"
	partySystem = "system"
)
