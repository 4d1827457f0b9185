// Package wire reads packet captures for SIP: it takes the packets of a pcap
// stream, joins TCP segments in order, and finds the INVITE transactions that
// crossed the captured link, however often their packets were repeated.
//
// It sees plain text only and knows nothing of the framing around a SIP
// message, so that it also counts INVITEs inside streams between nodes.
package wire
