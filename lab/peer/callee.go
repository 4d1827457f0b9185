package peer

import (
	"fmt"
	"time"
)

// Callee is a scenario that takes an INVITE and goes through the steps. OPTIONS
// outside of a call is answered with 200.
func Callee(name string, steps ...Step) Scenario { return CalleeOptions(name, 200, steps...) }

// CalleeOptions is Callee with the code that answers OPTIONS; 0 leaves OPTIONS
// without an answer.
func CalleeOptions(name string, options int, steps ...Step) Scenario {
	end := fmt.Sprintf("<label id=\"%d\"/>\n", labelEnd)
	answer := Step("")
	if options != 0 {
		answer = response("", "[last_CSeq:]", options, false)
	}
	return Scenario{
		Name: name,
		first: fmt.Sprintf("<recv request=\"OPTIONS\" optional=\"true\" next=\"%d\"/>\n", labelOptions) +
			"<recv request=\"INVITE\" rrs=\"true\"><action>" +
			capture("[0-9]+", "CSeq:", "cseq") + capture(".*", "From:", "from") + capture(".*", "To:", "to") +
			"</action></recv>\n",
		steps: steps,
		after: fmt.Sprintf("<nop next=\"%d\"/>\n<label id=\"%d\"/>\n%s%s", labelEnd, labelOptions, answer, end) +
			"<Reference variables=\"cseq,from,to\"/>\n",
	}
}

// capture keeps what matches in a header of the INVITE in a variable.
func capture(pattern, header, variable string) string {
	return fmt.Sprintf("<ereg regexp=%q search_in=\"hdr\" header=%q check_it=\"true\" assign_to=%q/>\n", pattern, header, variable)
}

// Respond sends a provisional response without SDP.
func Respond(code int) Step { return invited("", code, false) }

// RespondSDP sends a provisional response with SDP: early media.
func RespondSDP(code int) Step { return invited("", code, true) }

// Accept answers with 200 and SDP and waits for the ACK.
func Accept() Step { return invited(repeat, 200, true) + "<recv request=\"ACK\" rrs=\"true\"/>\n" }

// Reject answers with a final failure and waits for its ACK.
func Reject(code int) Step { return invited(repeat, code, false) + "<recv request=\"ACK\"/>\n" }

// Ring sends 180 and lets it ring for d.
func Ring(d time.Duration) Step { return Respond(180) + Wait(d) }

// UntilBye waits for the BYE of the other side and answers it.
func UntilBye() Step { return "<recv request=\"BYE\"/>\n" + agree("", false) }

// Reinvited takes an INVITE inside the call.
func Reinvited() Step {
	return "<recv request=\"INVITE\"/>\n" + agree(repeat, true) + "<recv request=\"ACK\"/>\n"
}

// UntilCancel waits for the CANCEL, answers it, and ends the INVITE with 487.
func UntilCancel() Step {
	return Cancelled() + response(repeat, "CSeq: [$cseq] INVITE", 487, false) + "<recv request=\"ACK\"/>\n"
}

// Cancelled waits for the CANCEL and answers only that.
func Cancelled() Step {
	return "<recv request=\"CANCEL\"/>\n" + response("", "[last_CSeq:]", 200, false)
}

// AcceptLate answers the INVITE with 200 after another request came in between,
// then waits for the ACK and the BYE that a cancelled call must get.
func AcceptLate() Step {
	return response(repeat, "CSeq: [$cseq] INVITE", 200, true) + "<recv request=\"ACK\" rrs=\"true\"/>\n" + UntilBye()
}

// HangUp sends the callee's BYE and waits for its answer.
func HangUp() Step {
	return send(repeat, `
		BYE [next_url] SIP/2.0
		Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
		[routes]
		From:[$to];tag=[pid]B[call_number]
		To:[$from]
		[last_Call-ID:]
		CSeq: 1 BYE
		Max-Forwards: 70
		Content-Length: 0`) + "<recv response=\"200\"/>\n"
}

// invited responds to the INVITE that was received last.
func invited(attributes string, code int, withSDP bool) Step {
	return response(attributes, "[last_CSeq:]", code, withSDP)
}

// agree answers a request inside the dialog with 200: its To has our tag.
func agree(attributes string, withSDP bool) Step {
	return tagged(attributes, "[last_CSeq:]", 200, "", withSDP)
}

// response answers a request outside the dialog; a 100 makes none.
func response(attributes, cseq string, code int, withSDP bool) Step {
	tag := ";tag=[pid]B[call_number]"
	if code == 100 {
		tag = ""
	}
	return tagged(attributes, cseq, code, tag, withSDP)
}

func tagged(attributes, cseq string, code int, tag string, withSDP bool) Step {
	return send(attributes, fmt.Sprintf(`
		SIP/2.0 %d %s
		[last_Via:]
		[last_From:]
		[last_To:]%s
		[last_Call-ID:]
		%s
		[last_Record-Route:]
		Contact: <sip:[local_ip]:[local_port];transport=[transport]>
		`, code, phrase(code), tag, cseq)+body(withSDP))
}

// phrase is a reason phrase: its own for the common codes.
func phrase(code int) string {
	switch code {
	case 100:
		return "Trying"
	case 180:
		return "Ringing"
	case 183:
		return "Session Progress"
	case 200:
		return "OK"
	case 486:
		return "Busy Here"
	case 487:
		return "Request Terminated"
	case 503:
		return "Service Unavailable"
	case 603:
		return "Decline"
	default:
		return "Test"
	}
}
