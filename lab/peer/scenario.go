package peer

import (
	"fmt"
	"strings"
	"time"
)

// Scenario is a SIPp scenario: what one far end does in each call.
type Scenario struct {
	Name  string
	steps []Step
	first string // XML before the steps
	after string // XML behind the steps: answers to requests outside of a call
	whole string // XML of a scenario that was written elsewhere
}

// Written is a scenario that exists as SIPp's XML.
func Written(name string, xml []byte) Scenario { return Scenario{Name: name, whole: string(xml)} }

// Step is a part of a scenario, in SIPp's XML.
type Step string

// labels of the scenarios' jumps.
const (
	labelOptions = 90
	labelEnd     = 99
)

// XML returns the scenario as SIPp reads it.
func (s Scenario) XML() string {
	if s.whole != "" {
		return s.whole
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<scenario name=%q>\n%s", s.Name, s.first)
	for _, step := range s.steps {
		b.WriteString(string(step))
	}
	b.WriteString(s.after)
	b.WriteString("</scenario>\n")
	return b.String()
}

// Wait does nothing for d.
func Wait(d time.Duration) Step {
	return Step(fmt.Sprintf("<pause milliseconds=\"%d\"/>\n", d.Milliseconds()))
}

// send writes a message; attributes are those of SIPp's send element.
func send(attributes, text string) Step {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return Step(fmt.Sprintf("<send%s><![CDATA[\n%s\n\n]]></send>\n", attributes, strings.Join(lines, "\n")))
}

// repeat makes SIPp repeat a message over UDP until the next one comes.
const repeat = ` retrans="500"`

// sdp is an offer or answer of one audio stream.
const sdp = `
	v=0
	o=- 20 1 IN IP[media_ip_type] [media_ip]
	s=-
	c=IN IP[media_ip_type] [media_ip]
	t=0 0
	m=audio [media_port] RTP/AVP 0 101
	a=rtpmap:101 telephone-event/8000
	a=sendrecv`

// body ends a message's header, with or without SDP. SIPp counts the length.
func body(with bool) string {
	if !with {
		return "Content-Length: 0"
	}
	return "Content-Type: application/sdp\nContent-Length: [len]\n" + sdp
}
