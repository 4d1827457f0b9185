// Package vnet is an in-memory network for tests in virtual time: hosts with
// addresses, TCP-like streams and UDP-like packets between them, with delay, loss
// and cuts per direction.
//
// It blocks on channels and timers only, so code that runs over it inside a
// testing/synctest bubble sees a WAN whose seconds cost microseconds. Streams
// behave as TCP does where it matters to failure detection: octets sent over a cut
// link are not lost but wait until it heals, a close waits with them, and a
// connect over a cut link hangs until the dialer gives up. A lossy link makes them
// late: each lost packet waits for a retransmission timer that doubles, and all
// octets behind it wait as well. There is no fast retransmit, so that what holds
// here holds over a real TCP. Crash resets all streams of a host without delay, as
// a kernel does for a killed process; a host that is Stalled reads late, as on a
// machine whose CPU is taken.
package vnet
