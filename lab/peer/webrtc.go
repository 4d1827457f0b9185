package peer

import "strings"

// WebRTC is a scenario whose offers, or answers, a browser takes: SRTP keyed by DTLS, ICE, both on one port (RFC 8829 section 5). SIPp
// speaks none of these; no media will flow. setup is the part in the DTLS handshake: "actpass" of who calls, "active" of who answers.
func WebRTC(s Scenario, setup string) Scenario {
	const plain = "m=audio [media_port] RTP/AVP 0 101\na=rtpmap:101 telephone-event/8000\na=sendrecv"
	lines := []string{
		"m=audio [media_port] UDP/TLS/RTP/SAVPF 0", "a=mid:0", "a=rtcp-mux", "a=rtpmap:0 PCMU/8000", "a=sendrecv",
		"a=ice-ufrag:tdmx", "a=ice-pwd:0123456789abcdefghijklmn", "a=setup:" + setup,
		"a=fingerprint:sha-256 " + strings.TrimSuffix(strings.Repeat("0A:", 32), ":"),
	}
	return Written(s.Name+"-webrtc", []byte(strings.ReplaceAll(s.XML(), plain, strings.Join(lines, "\n"))))
}
