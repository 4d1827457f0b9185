// Package registry is a node's index of all bindings of the cluster: what calls to members that
// register are planned over (R-01, DEC-15).
//
// It is fed by whoever keeps the bindings, under that one's lock, and read by every call: readers
// take no lock and allocate nothing. The bindings of an address of record are an immutable list that
// is replaced whole; the table of lists is a hash table of atomic pointers with one writer at a time.
package registry
