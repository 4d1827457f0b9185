// Package mint makes and reads the identifiers that Tandem puts on the wire:
// B-leg Call-IDs and dialog tags.
//
// Each carries the node that made it, that node's boot number, the shard that
// owns the call, 64 random bits and a keyed MAC (DEC-09). A node that gets an
// in-dialog request for a dialog it does not know reads from the identifier
// who does, and a stranger cannot make it ask anybody: without the cluster key
// an identifier does not verify.
//
// The package is pure: randomness is an argument.
package mint
