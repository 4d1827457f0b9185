// Package guard stands before the parser: it says which bytes are looked at at
// all, and which addresses are shut out for what they did.
//
// Every datagram, connection and message of an accepted connection passes, in
// this order: the access list of its listener, the bans, the token bucket of its
// source, and the signatures of scanners. What fails is dropped without an answer,
// and a connection is closed; Counters says how often and why.
//
// # Who is who
//
// An address is one of three. Trusted are the addresses from which the trunk
// groups' far ends send, and those of the allow list: they have no bucket unless
// one is configured, and nothing they do bans them. Known are the addresses of live
// registrations, which are not banned either, and of users who have proved themselves
// lately: they have a wide bucket. Everybody else is a stranger. Over UDP an address can
// be forged, so being trusted here opens nothing but this door.
//
// # Bans
//
// The Judge weighs what strangers do. Only what cannot be forged counts: what comes
// over a connection, and digest answers over a nonce that was given to that very
// address. A source that is banned again is banned for twice as long.
//
// # Memory and cost
//
// Nothing here grows with the number of senders. Buckets and known addresses are
// fixed tables of single words, changed by compare and swap, whose places are chosen
// by a keyed hash; IPv6 addresses count by their /64. A bucket that is full again
// holds nothing worth keeping, so its place is free: a flood from forged addresses
// pushes no real debtor out. Bans are a persistent tree behind one pointer.
//
// The package does no I/O and reads no clock. A Guard may be used by many goroutines
// at once; a Judge belongs to one.
package guard
