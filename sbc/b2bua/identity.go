package b2bua

import (
	"strconv"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// identity is what CANCEL, ACK and BYE of an INVITE are made of.
type identity struct {
	uri, callID, localTag string
	local, remote         string // From and To values without tags
	routes                []string
	seq                   uint32
	hop                   transport.Target
	leg                   *leg             // the dialog, when the INVITE is inside one
	reach                 trunkgroup.Reach // of a binding
	login                 *login           // once a carrier's challenge was answered
	veil                  *veil            // what the caller says in the dialog must pass; nil for most
	credentials           string           // the header line of the answer: the ACK has the same (RFC 3261 13.2.2.4)
}

func (id *identity) withToTag() string {
	if id.leg != nil {
		return id.leg.withRemoteTag()
	}
	return id.remote
}

// elsewhereLine tells a far end that was called beside others that its user has
// missed nothing (RFC 3326 section 2).
const elsewhereLine = "Reason: SIP;cause=200;text=\"Call completed elsewhere\"\r\n"

// appendHopRequest writes what belongs to the INVITE's own transaction: CANCEL
// and the ACK of a failure have its Request-URI, Via branch, Route and CSeq
// number (RFC 3261 9.1, 17.1.1.3).
func (tx *inviteTx) appendHopRequest(method, to string) []byte {
	s, id := tx.s, &tx.id
	b := make([]byte, 0, 512)
	b = append(append(append(b, method...), ' '), id.uri...)
	b = append(append(append(b, " SIP/2.0\r\nVia: SIP/2.0/"...), id.hop.Transport.Via()...), ' ')
	b = append(append(b, s.sentBy(id.hop)...), ";branch="...)
	b = appendBranch(b, tx.token)
	if !id.hop.Transport.Reliable() {
		b = append(b, ";rport"...)
	}
	for _, r := range id.routes {
		b = append(append(b, "\r\nRoute: "...), r...)
	}
	b = append(append(append(b, "\r\nMax-Forwards: 70\r\nFrom: "...), id.local...), ";tag="...)
	b = append(append(append(b, id.localTag...), "\r\nTo: "...), to...)
	b = append(append(append(b, "\r\nCall-ID: "...), id.callID...), "\r\nCSeq: "...)
	b = strconv.AppendUint(b, uint64(id.seq), 10)
	b = append(append(append(b, ' '), method...), "\r\n"...)
	if method == sip.CANCEL && tx.elsewhere {
		b = append(b, elsewhereLine...)
	}
	return append(b, "Content-Length: 0\r\n\r\n"...)
}
