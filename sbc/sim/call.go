package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// Placement says what one call is to do.
type Placement struct {
	From string // user part; default "anonymous"
	To   string // user part of the Request-URI
	// Hold is how long the call stays up before our BYE; negative = until HangUp or the other side's BYE.
	Hold time.Duration
	// Cancel gives the call up by CANCEL this long after the INVITE unless it was answered; 0 = never.
	Cancel  time.Duration
	NoOffer bool     // INVITE without SDP: the offer comes with the 2xx, the answer goes with the ACK
	Headers []string // complete extra header lines of the INVITE, without CRLF
	Node    int      // first node, as an index; used when NodeSet
	NodeSet bool
	Then    []Action // requests in the dialog after the answer
	// Notify is called inside the core for each event of this call: it must be quick and must not call back.
	Notify func(Event)
}

// Event is one step of a call.
type Event struct {
	Code   int         // 101-699: a response to the INVITE; 0 = the call is over
	Record *CallRecord // when the call is over
}

// phase is where a call stands.
type phase uint8

const (
	phaseFree    phase = iota // the slot waits for a call
	phaseInvite               // an INVITE is out; left by a final response or the last node's failure
	phaseUp                   // answered; left by a BYE of either side or a failed request
	phaseBye                  // our BYE is out; left by its final response or 64*T1
	phaseOverdue              // recorded; late responses to INVITEs or BYEs are still awaited
)

// call is one slot of the caller. Everything that a message must be matched with
// is in its ids: slot, generation and sequence number.
type call struct {
	due
	dialog
	Placement
	slot  uint32
	gen   uint16
	seq   uint8 // last sequence number used in a branch
	phase phase

	n        uint64
	started  time.Time
	first    time.Time // first 101-199 or 2xx
	answered time.Time
	code     int
	reason   string
	member   string
	byReason string

	tries     []try
	tryRoom   [2]try
	tried     uint64 // bit per node
	number    uint32 // CSeq number of the current INVITE
	auth      []byte // credentials of the current INVITE
	nonce     *challenge
	proofs    int    // challenges answered
	invite    repeat // the INVITE, until any response
	canceller repeat // the CANCEL, until its final response
	cancelTo  transport.Target
	cancelAt  time.Time // when Placement.Cancel falls due
	setupEnd  time.Time
	gaveUp    Result // Cancelled or NoFinal once the caller wants no more; else ""
	cancelled bool   // the CANCEL is on the wire

	localTag  []byte
	remoteTag []byte
	ack       []byte // our ACK, for a repeated 2xx
	holdEnd   time.Time
	thenAt    time.Time
	then      int
	version   int
	out       repeat // our request in the dialog
	outName   string
	outSeq    uint8
	outAt     time.Time
	outAuth   bool // credentials were sent with it
	crossed   bool
	heard     uint32

	change   repeat // our 2xx to a re-INVITE
	changing []byte
	changeNo uint32
	reply    transport.Target

	strays  []stray
	overdue time.Time // end of the wait for late responses
}

// try is one INVITE on the wire.
type try struct {
	seq    uint8
	node   int
	number uint32
	at     time.Time
	ended  time.Time
	code   int
	cause  string
	detail string // of "refused", when it is more than that: what the transport said
	spoke  bool   // any response came
	final  bool   // a final response came
	cancel bool   // a CANCEL was sent for it
}

// stray is a BYE that ends a dialog nobody wanted: an answer that came late.
type stray struct {
	repeat
	dialog
	seq uint8
}

func (k *call) when() *due { return &k.due }

func (k *call) current() *try { return &k.tries[len(k.tries)-1] }

func (k *call) try(seq uint8) *try {
	for i := range k.tries {
		if k.tries[i].seq == seq {
			return &k.tries[i]
		}
	}
	return nil
}

// token identifies a call and one of its transactions.
type token struct {
	slot uint32
	gen  uint16
	seq  uint8
}

// ref is a token as a number, never zero.
func (t token) ref() uint64 { return 1<<63 | uint64(t.slot)<<24 | uint64(t.gen)<<8 | uint64(t.seq) }

func tokenOf(ref uint64) token {
	return token{slot: uint32(ref >> 24 & 0xffffffff), gen: uint16(ref >> 8), seq: uint8(ref)}
}

// appendToken writes "run.slot.gen" and, with a sequence number, ".seq".
func (c *Caller) appendToken(dst []byte, t token) []byte {
	dst = append(dst, c.run...)
	dst = append(dst, '.')
	dst = strconv.AppendUint(dst, uint64(t.slot), 16)
	dst = append(dst, '.')
	dst = strconv.AppendUint(dst, uint64(t.gen), 16)
	if t.seq != 0 {
		dst = append(dst, '.')
		dst = strconv.AppendUint(dst, uint64(t.seq), 16)
	}
	return dst
}

// parseToken reads a token that begins at offset skip of b.
func (c *Caller) parseToken(b []byte, skip int) (t token, ok bool) {
	if len(b) <= skip+len(c.run) || string(b[skip:skip+len(c.run)]) != c.run {
		return token{}, false
	}
	var parts [3]uint64
	n := 0
	for _, ch := range b[skip+len(c.run):] {
		switch {
		case ch == '.':
			if n++; n > 3 {
				return token{}, false
			}
		case n > 0 && ch >= '0' && ch <= '9':
			parts[n-1] = parts[n-1]<<4 | uint64(ch-'0')
		case n > 0 && ch >= 'a' && ch <= 'f':
			parts[n-1] = parts[n-1]<<4 | uint64(ch-'a'+10)
		default:
			return token{slot: uint32(parts[0]), gen: uint16(parts[1]), seq: uint8(parts[2])}, n >= 2
		}
	}
	return token{slot: uint32(parts[0]), gen: uint16(parts[1]), seq: uint8(parts[2])}, n >= 2
}

// lookup returns the call of a token, nil when its slot has moved on.
func (c *Caller) lookup(t token) *call {
	if int(t.slot) >= len(c.calls) {
		return nil
	}
	if k := c.calls[t.slot]; k.gen == t.gen && k.phase != phaseFree {
		return k
	}
	return nil
}

// take returns a free slot with a new generation.
func (c *Caller) take() *call {
	// A slot rests while few are free, so that a late message does not meet a new call with its generation one higher.
	if len(c.free)-c.freeAt > 64 {
		k := c.calls[c.free[c.freeAt]]
		c.freeAt++
		if c.freeAt > 4096 && c.freeAt*2 > len(c.free) {
			c.free = append(c.free[:0], c.free[c.freeAt:]...)
			c.freeAt = 0
		}
		return k
	}
	k := &call{slot: uint32(len(c.calls))}
	c.calls = append(c.calls, k)
	return k
}

func (c *Caller) release(k *call) {
	if k.phase == phaseFree {
		return
	}
	c.agenda.remove(k)
	*k = call{slot: k.slot, gen: k.gen + 1}
	c.free = append(c.free, k.slot)
}

// schedule puts the call into the agenda at its earliest deadline.
func (c *Caller) schedule(k *call) {
	if k.phase == phaseFree {
		return
	}
	at := earlier(k.invite.deadline(), k.out.deadline())
	at = earlier(at, k.canceller.deadline())
	at = earlier(at, k.change.deadline())
	at = earlier(at, k.cancelAt)
	at = earlier(at, k.setupEnd)
	at = earlier(at, k.holdEnd)
	at = earlier(at, k.thenAt)
	at = earlier(at, k.overdue)
	for i := range k.strays {
		at = earlier(at, k.strays[i].deadline())
	}
	c.agenda.set(k, at)
}

// find returns the call of a request that came in, by its Call-ID.
func (c *Caller) find(m *sip.Message) *call {
	t, ok := c.parseToken(m.CallID(), 0)
	if !ok {
		return nil
	}
	k := c.lookup(t)
	if k == nil || !bytes.Equal(m.ToTag(), k.localTag) {
		return nil
	}
	return k
}
