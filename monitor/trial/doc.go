// Package trial watches the calls of a node that tries a canary, and says when
// they fail so much more often than before that the node must go back (DEC-25).
//
// It counts what a configuration can break: a call for which nothing was
// dialled, and a call that ended in a 5xx. A busy or absent callee, a wrong
// number at the far end and a caller who gives up are no failures. A judge knows
// one node only: it never speaks for the cluster, and never takes a canary back
// from the other nodes.
//
// The package is pure: no I/O, no goroutine, no clock.
package trial
