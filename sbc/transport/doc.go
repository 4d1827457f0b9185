// Package transport owns the SIP sockets: UDP, TCP, TLS and WebSockets (RFC 7118) over IPv4 and IPv6.
//
// Received bytes are framed, parsed and gated by package sip and handed to one Handler in the order in which each socket gave
// them, with the flow or the datagram's source beside. Bytes to send are given to a Batch and never block the giver: UDP goes out
// in one system call per Flush, a stream has a bounded queue and is dialled in the background. Every failure comes back through
// Handler.Failed: a refused datagram (ICMP), a refused or dead connection, a full queue.
//
// There is no state per UDP source. Everything a stranger can hold open has a cap and a deadline (Limits).
//
// A WebSocket is a stream connection that the other side opens: it is counted, bounded and written to as one, cannot be dialled, and
// frames messages by itself.
//
// Not its concern: transactions, retransmission, DNS, advertised addresses, Via.
package transport
