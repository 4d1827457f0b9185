// Package peer starts the foreign programs that Tandem is tested against: SIPp
// as callers, PBXs and carriers, Kamailio as a TLS edge, the softphones baresip
// and linphonec, and sipsak.
//
// SIPp scenarios are composed in Go from steps that read like a call (Ring,
// Answer, Reject, …) instead of being kept as XML; every callee also answers
// OPTIONS, since monitoring sends it. What SIPp sent and received is read back
// from its message log (Messages).
package peer
