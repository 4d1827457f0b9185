package b2bua

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/sbc/uac"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// RegisterOrder asks for one REGISTER to a carrier's registrar.
type RegisterOrder struct {
	// Member has the account.
	Member *trunkgroup.Member
	// Addr is where the registrar is reached, ServerName the name that its certificate
	// must have.
	Addr       netip.AddrPort
	ServerName string
	// URI is the Request-URI, CallID that of all REGISTERs of one registration.
	URI, CallID string
	uac.Order
	// Done takes the outcome, on the shard's goroutine. It must not block.
	Done func(RegisterResult)
}

// RegisterResult is what became of a REGISTER that we sent.
type RegisterResult struct {
	// Message is the final response, or nil, and then Err says why there is none.
	Message *sip.Message
	// Contact is the URI of our Contact in the request.
	Contact string
	// Own are the URIs of the Contacts in the response that are this account's, at
	// whatever node of the cluster.
	Own []string
	Err error
}

// ours is a REGISTER of ours on its way.
type ours struct {
	s       *Shard
	member  *trunkgroup.Member
	contact string
	done    func(RegisterResult)
}

// SendRegister sends a REGISTER as a new transaction (RFC 3261 section 10.2).
func (s *Shard) SendRegister(now time.Time, order RegisterOrder) {
	s.now, s.hot = now, nil
	m := order.Member
	listener, ok := s.listener(m.Transport, order.Addr.Addr())
	if !ok {
		order.Done(RegisterResult{Err: transport.ErrNoListener})
		return
	}
	hop := transport.Target{Transport: m.Transport, Addr: order.Addr, Listener: listener, ServerName: order.ServerName}
	contact := "sip:" + s.accounts.token(m) + "@" + s.sentBy(hop) + m.Transport.URIParam()
	lines := make([]byte, 0, 256)
	for _, uri := range order.Remove {
		if isTarget(uri) {
			lines = append(append(append(lines, "Contact: <"...), uri...), ">;expires=0\r\n"...)
		}
	}
	lines = append(append(append(lines, "Contact: <"...), contact...), ">;expires="...)
	lines = strconv.AppendInt(lines, int64(order.Expires), 10)
	lines = append(lines, "\r\nExpires: "...)
	lines = strconv.AppendInt(lines, int64(order.Expires), 10)
	lines = append(append(lines, "\r\n"...), allowLine...)
	aor := "<" + m.Account.AOR + ">"
	o := outline{
		method: sip.REGISTER, uri: order.URI, seq: order.Seq, token: s.newBranch(),
		from: aor + ";tag=" + strconv.FormatUint(s.env.Random(), 36), to: aor, callID: order.CallID,
		hop: hop, maxForwards: 70, lines: lines, credentials: order.Credentials,
	}
	s.send(&o, &ours{s: s, member: m, contact: contact, done: order.Done})
}

// ownContacts lists the Contacts of a response that have the user which this cluster
// registers the account under, at whatever node and under whatever of its keys.
func (r *ours) ownContacts(m *sip.Message) (own []string) {
	table, _ := r.s.env.Routing()
	for _, uri := range uac.Contacts(m) {
		u, err := sip.ParseURI([]byte(uri))
		if err != nil {
			continue
		}
		if at := r.s.accounts.member(table, u.User); at != nil && at.Key == r.member.Key {
			own = append(own, uri)
		}
	}
	return own
}

func (r *ours) replied(_ *outgoing, m *sip.Message, err error) {
	switch {
	case m == nil:
		r.done(RegisterResult{Contact: r.contact, Err: err})
	case m.Status() >= 200:
		r.done(RegisterResult{Message: m, Contact: r.contact, Own: r.ownContacts(m)})
	}
}
