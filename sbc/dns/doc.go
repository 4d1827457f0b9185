// Package dns keeps the addresses of members that are configured by name.
//
// No call ever waits for it. A [Resolver] looks every watched name up in the background, again when the answer's TTL ends, and hands each
// changed address list to a callback; a call plans over the list that was published last. When the servers fail, or say that a name is
// gone, the last good addresses stay: whether they still answer is for probes and calls to find out, per address and never per name
// (RFC 3263 section 4.3).
//
// A name with a port is looked up as A and AAAA. A name without one is looked up as SRV for the member's transport first, and as A and AAAA
// with the transport's default port when there is no SRV record (RFC 3263 section 4.2). The transport is always configured, so NAPTR has
// nothing to say.
package dns
