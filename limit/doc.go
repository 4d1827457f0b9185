// Package limit counts what is in use against what may be: concurrent calls
// (Ports, P-33) and calls per second (P-34) of customers, trunk groups and
// members (DEC-10). It is a leaf: it knows nothing of calls, nodes or leases.
//
// A Meter holds this node's share of one limit and how much of it is in use, in
// one atomic word, so that the call path takes no lock. Who gives the share, and
// for how long, is cluster/lease. A Set finds the meters of what a call uses; a
// Queue keeps the calls that wait for a larger share.
//
// A call per second is a use that lasts one second and a little. So one kind of
// counter serves both limits, and the number of calls that begin within any one
// second is bounded by the sum of the shares.
package limit
