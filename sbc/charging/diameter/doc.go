// Package diameter is the form of charging on the wire: Diameter's base protocol (RFC 6733) as far as a
// client of charging servers needs it, credit control (RFC 8506) and accounting, with the
// 3GPP's description of a call (TS 32.299). It is pure: octets in, octets out. The library that there is
// for it brings gRPC, SCTP, a global dictionary and reflection; a client needs seven commands.
//
//	Header, Parse      a message, and its AVPs as they lie in it
//	Writer             makes one
//	Capabilities       CER and CEA, DWR and DWA, DPR and DPA
//	AppendRequest      CCR and ACR of a charging.Request; ParseAnswer what came back
//	Watchdog           whether a peer lives (RFC 3539)
//
// What a server sends is bounded, and no length in it is trusted.
package diameter
