// Package fraud counts what customers' calls do and judges each new one by the
// bounds of the document: calls and minutes per hour and per day, to all
// destinations and to those of one risk, and bursts of short calls.
//
// A Watch is shared by all calls of a node and takes no lock: a count is a ring
// of time slots, each one atomic word. What other nodes counted is added as one
// sum that the shell refreshes (Spread, Collect), so that a bound holds over the
// cluster with the delay of that exchange. Counts of a process that is gone go on
// to count until they are a day old.
//
// The slots go by the wall clock, so that nodes add up the same hours: clocks that
// differ by a slot shift a bound by that much and do no other harm.
package fraud
