// Package tally keeps what calls to carriers, trunk groups, sites and destinations came to,
// over sliding windows of five minutes, an hour and a day: answers, answers and
// refusals together, how long answered calls lasted, and how long callers waited for the
// first ringing. From these come ASR, NER, ACD and PDD.
//
// A Board belongs to one goroutine. What calls report waits in front of it, so nothing
// of it is on their path. Each node counts its own attempts and tells the others the sums
// of its windows (Spread); what they tell (Heard) is added to its own. Counts of a
// node that is gone go with it.
//
// An attempt that was not dialled says nothing about anybody and is not counted, nor is one
// that the caller gave up before anybody rang.
//
// The package is pure: time is an argument.
package tally
