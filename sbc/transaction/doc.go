// Package transaction holds the SIP transaction state machines of RFC 3261 section 17 with the
// corrections of RFC 6026, the repetition of a 2xx by the core (RFC 3261 section 13.3.1.4), and the
// table of what lingers of finished transactions.
//
// The machines hold no message and no address. Each takes an event and the time and answers with what
// its owner does now, a bit set of type Do: put the stored message on the wire, give the event to the
// transaction user, acknowledge, forget. The next instant at which Expire must be called is Deadline.
//
//	Client  INVITE client (17.1.1, 6026 section 7.2), non-INVITE client (17.1.2)
//	Answer  a 2xx to INVITE, repeated until its ACK (13.3.1.4)
//	Linger  bytes that may have to be sent again after a call has ended
//
// The timers are those of RFC 3261 table 4: A, B, D, M in an INVITE client, E, F, K in the other client.
// A server transaction has no machine here: it is a part of its call, in sbc/b2bua.
//
// Instants are kept as offsets from the first event of a machine, so that a step of the wall clock
// moves no timer as long as the caller's times carry a monotonic reading.
//
// The package is pure: no I/O, no goroutine, no clock, and no allocation in any step of a machine.
package transaction
