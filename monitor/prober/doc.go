// Package prober sends OPTIONS to the members that this node is to watch and keeps the state machine of each (trunkgroup.Health).
//
// One goroutine owns all state machines; probes run beside it, all that are due at once in parallel up to a bound, each with a reply timeout
// of its own, so that neither a dead member nor SIP's timer F delays anybody's verdict. Targets that are set anew keep their state: a change
// of the routing table resets no health.
//
// First probes are spread over a few seconds at random, so that a node's start does not burst; after that each target follows its own clock.
package prober
