package b2bua

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// oddLines are header lines that may stand in a message and that a careless
// stack stumbles over.
var oddLines = []string{
	"Record-Route: <sip:192.0.2.250;lr>, <sip:198.51.100.250>", "Record-Route: <sip:proxy.example.com;transport=tcp>",
	"Contact: <sip:[2001:db8::1]:5070;transport=tls>", "Contact: <sips:x@192.0.2.251>", "Contact: <tel:+12145550100>", "Contact: *",
	"Contact: \"x\\\" y\" <sip:a@192.0.2.252?Replaces=x>;q=1, <sip:b@192.0.2.253>", "Require: 100rel", "Retry-After: 99999999999",
	"Retry-After: -1", "Replaces: a;to-tag=b;from-tag=c", "Max-Forwards: 0", "Expires: 0", "X-Tandem-Handoff: x", "X-Tandem-Attempts: 1",
	"Content-Type: multipart/mixed;boundary=x", "Session-Expires: 90", "RSeq: 1", "RAck: 1 1 INVITE", "Reason: Q.850;cause=16",
	"Identity: " + strings.Repeat("a", 3000),
}

// garble changes a message the way that broken far ends do.
func (w *storm) garble(b []byte) []byte {
	text := string(b)
	head, body, _ := strings.Cut(text, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	for range 1 + w.rng.IntN(3) {
		i := w.rng.IntN(len(lines))
		switch w.rng.IntN(9) {
		case 0: // a header is missing
			if i > 0 {
				lines = append(lines[:i:i], lines[i+1:]...)
			}
		case 1: // stands twice
			lines = append(lines[:i:i], append([]string{lines[i]}, lines[i:]...)...)
		case 2:
			lines = append(lines, oddLines[w.rng.IntN(len(oddLines))])
		case 3: // another status or method
			for _, swap := range [][2]string{{"SIP/2.0 200", "SIP/2.0 183"}, {"SIP/2.0 18", "SIP/2.0 20"}, {"SIP/2.0 4", "SIP/2.0 2"}, {"SIP/2.0 100", "SIP/2.0 299"}, {"SIP/2.0 200", "SIP/2.0 481"}} {
				if w.rng.IntN(3) == 0 {
					lines[0] = strings.Replace(lines[0], swap[0], swap[1], 1)
				}
			}
		case 4: // a number is another one
			lines[i] = replaceDigits(lines[i], strconv.Itoa(w.rng.IntN(1<<30)))
		case 5: // tags change places, or are cut off
			for j := range lines {
				if strings.HasPrefix(lines[j], "To: ") || strings.HasPrefix(lines[j], "From: ") {
					if cut, _, found := strings.Cut(lines[j], ";tag="); found && w.rng.IntN(2) == 0 {
						lines[j] = cut + []string{"", ";tag=x", ";TAG=1;x=y"}[w.rng.IntN(3)]
					}
				}
			}
		case 6: // a byte is another one
			if len(lines[i]) > 0 {
				raw := []byte(lines[i])
				raw[w.rng.IntN(len(raw))] = byte(w.rng.IntN(256))
				lines[i] = string(raw)
			}
		case 7: // the method in CSeq
			methods := []string{"INVITE", "ACK", "BYE", "CANCEL", "INFO", "UPDATE", "PRACK", "FOO"}
			from, to := methods[w.rng.IntN(len(methods))], methods[w.rng.IntN(len(methods))]
			for j := range lines {
				lines[j] = strings.ReplaceAll(lines[j], from, to)
			}
		default:
			body = ""
		}
	}
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n" + body)
}

func replaceDigits(s, with string) string {
	i := strings.IndexAny(s, "0123456789")
	if i < 0 {
		return s
	}
	j := i
	for j < len(s) && s[j] >= '0' && s[j] <= '9' {
		j++
	}
	return s[:i] + with + s[j:]
}

// garbled is what arrives of a message: the gate may stop it.
func (w *storm) garbled(b []byte) *sip.Message {
	m, fault := sip.Parse(bytes.Clone(w.garble(b)))
	if fault != nil {
		return nil
	}
	return m
}
