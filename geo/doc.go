// Package geo decides everything about other sites: which peer node is asked to take a call over, what
// proves that a hand-off comes from a node of this cluster, and that a call is never handed on or back.
//
//	Nodes    peer nodes in the order in which they are asked
//	Handoff  one hand-off: a node, at most one second node, exactly one that takes the call
//	Token    what a hand-off carries beside the caller's INVITE, under a MAC
//	Seen     the call ids that this node took over: each one once
//
// What gossip and heartbeats say orders the nodes and never forbids a hand-off; only configuration does
// (DEC-04).
//
// The package is pure: no I/O, no goroutine, no clock.
package geo
