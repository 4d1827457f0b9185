// Package b2bua is the call engine as a pure core: a Shard is a set of calls
// that is stepped with events (a request, a response, a failed send, a
// deadline) and the time, and that puts messages out through its Env. It has
// no socket, no goroutine and no clock, so the same code runs behind real
// sockets, in virtual time and in the simulation.
//
// A call has an A leg (the caller's dialog, in which Tandem is the server) and
// up to one answered B leg (Tandem is the client). Each attempt is a fresh
// dialog with its own Call-ID, tags and CSeq (S-003); nothing of one side's
// topology crosses to the other.
//
// The story of a call, in file order:
//
//	request.go   a request arrives: repetition, ACK, CANCEL, in-dialog or new
//	identify.go  who is calling: peer site, provider, customer, nobody
//	route.go     which group
//	aor.go       the same for a registered PBX that is called by its address
//	affinity.go  the whole try-order, and the far end that a call keeps to
//	hunt.go      the sequence engine's actions carried out
//	attempt.go   one attempt: the B-leg INVITE and what comes back
//	handoff.go   the peer site asked as the last attempt, and the peer's part
//	caller.go    what the caller gets
//	bridge.go    the call is up: requests inside the dialogs, until a BYE
//	finish.go    the end: both legs down, one record
//
// Beside calls, options.go answers OPTIONS by what calls could expect.
package b2bua
