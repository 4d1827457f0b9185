package peer

import (
	"fmt"
	"time"
)

// Caller is a scenario that begins a call and goes through the steps.
func Caller(name string, steps ...Step) Scenario { return Scenario{Name: name, steps: steps} }

// request writes a request of the caller. branch is the transaction's number:
// CANCEL and the ACK to a failure carry that of their INVITE.
func request(attributes, method, uri string, branch int, to string, cseq int, more, end string) Step {
	if more != "" {
		more += "\n"
	}
	return send(attributes, fmt.Sprintf(`
		%s %s SIP/2.0
		Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=z9hG4bK-[pid]-[call_number]-%d;rport
		From: <sip:+12145559999@[local_ip]:[local_port]>;tag=[pid]A[call_number]
		To: %s
		Call-ID: [call_id]
		CSeq: %d %s
		Contact: <sip:caller@[local_ip]:[local_port];transport=[transport]>
		Max-Forwards: 70
		%s`, method, uri, branch, to, cseq, method, more)+end)
}

// where a call goes: the number given to the run, at the address given to it.
const (
	calledURI = "sip:[service]@[remote_ip]:[remote_port];transport=[transport]"
	calledTo  = "<sip:[service]@[remote_ip]:[remote_port]>"
)

// numbers of the transactions that have no INVITE's branch.
const (
	ackBranch      = 100
	byeBranch      = 110
	reinviteBranch = 120
)

// Invite sends the INVITE with SDP.
func Invite() Step { return InviteWith("") }

// InviteTo sends the INVITE with SDP to another URI than the number's, by way of
// the same address, and with further header lines.
func InviteTo(uri, more string) Step {
	return request(repeat, "INVITE", uri, 1, "<"+uri+">", 1, more, body(true))
}

// InviteWith sends the INVITE with SDP and further header lines.
func InviteWith(more string) Step {
	return request(repeat, "INVITE", calledURI, 1, calledTo, 1, more, body(true))
}

// InviteLate sends the INVITE without an offer.
func InviteLate() Step {
	return request(repeat, "INVITE", calledURI, 1, calledTo, 1, "", body(false))
}

// AnsweredLate expects 200 with the offer for an InviteLate and sends the ACK
// with the answer.
func AnsweredLate() Step {
	return provisional() + "<recv response=\"200\" rrs=\"true\"/>\n" +
		request("", "ACK", "[next_url]", ackBranch, calledTo+"[peer_tag_param]", 1, "[routes]", body(true))
}

// Reinvite sends an INVITE inside the call, expects 200 and sends the ACK.
func Reinvite(cseq int) Step {
	return request(repeat, "INVITE", "[next_url]", reinviteBranch, calledTo+"[peer_tag_param]", cseq, "[routes]", body(true)) +
		"<recv response=\"100\" optional=\"true\"/>\n<recv response=\"200\" rrs=\"true\"/>\n" +
		request("", "ACK", "[next_url]", ackBranch+1, calledTo+"[peer_tag_param]", cseq, "[routes]", body(false))
}

// IgnoreAnswer takes one 200 without an ACK, as if it were lost.
func IgnoreAnswer() Step { return provisional() + "<recv response=\"200\" rrs=\"true\"/>\n" }

// InviteDigest sends the INVITE, takes the challenge with code 401, and sends
// the INVITE again with the credentials by MD5. Later steps must use CSeq 2.
func InviteDigest(username, password string) Step {
	return Invite() + provisional() + "<recv response=\"401\" auth=\"true\"/>\n" + ackFailure(1) +
		request(repeat, "INVITE", calledURI, 2, calledTo, 2,
			fmt.Sprintf("[authentication username=%s password=%s]", username, password), body(true))
}

// provisional takes any provisional responses.
func provisional() Step {
	var s Step
	for _, code := range []int{100, 180, 181, 182, 183} {
		s += Step(fmt.Sprintf("<recv response=\"%d\" optional=\"true\"/>\n", code))
	}
	return s
}

// Refused expects the final failure code for the INVITE with CSeq cseq and
// sends its ACK.
func Refused(code, cseq int) Step {
	return provisional() + Step(fmt.Sprintf("<recv response=\"%d\"/>\n", code)) + ackFailure(cseq)
}

// ackFailure acknowledges a final failure, inside the INVITE's transaction.
func ackFailure(cseq int) Step {
	return request("", "ACK", calledURI, cseq, calledTo+"[peer_tag_param]", cseq, "", body(false))
}

// Ringing waits for the first response 180.
func Ringing() Step {
	return "<recv response=\"100\" optional=\"true\"/>\n<recv response=\"180\"/>\n"
}

// Answered expects 200 for the INVITE with CSeq cseq and sends the ACK.
func Answered(cseq int) Step {
	return provisional() + "<recv response=\"200\" rrs=\"true\"/>\n" +
		request("", "ACK", "[next_url]", ackBranch, calledTo+"[peer_tag_param]", cseq, "[routes]", body(false))
}

// Bye ends the call from the caller's side.
func Bye(cseq int) Step {
	return request(repeat, "BYE", "[next_url]", byeBranch, calledTo+"[peer_tag_param]", cseq, "[routes]", body(false)) +
		"<recv response=\"200\"/>\n"
}

// Cancel gives the call up and expects 200 for the CANCEL and 487 for the INVITE,
// in that order, as a B2BUA that settles at once sends them.
func Cancel() Step {
	return request(repeat, "CANCEL", calledURI, 1, calledTo, 1, "", body(false)) +
		"<recv response=\"200\"/>\n<recv response=\"487\"/>\n" +
		ackFailure(1)
}

// Complete is the ordinary call: INVITE, answered, held for d, ended by the caller.
func Complete(hold time.Duration) Scenario {
	return Caller("complete", Invite(), Answered(1), Wait(hold), Bye(2))
}

// Fails is the call that gets the final failure code.
func Fails(code int) Scenario {
	return Caller(fmt.Sprintf("fails-%d", code), Invite(), Refused(code, 1))
}

// TakeBye waits for the BYE of the other side and answers it.
func TakeBye() Step {
	return "<recv request=\"BYE\"/>\n" + send("", `
		SIP/2.0 200 OK
		[last_Via:]
		[last_From:]
		[last_To:]
		[last_Call-ID:]
		[last_CSeq:]
		Content-Length: 0`)
}
