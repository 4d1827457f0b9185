// Package monitor watches the far ends of the trunk groups and tells the node what to believe about them.
//
// A [Monitor] probes the members that fall to this node (package prober), spreads what it finds as records, takes the records of the other
// nodes, and builds the board (package verdict) from all of them whenever something changed: the View that calls are planned with. Calls
// report what they see by [Monitor.Evidence], which never blocks; it reaches the node that probes the member, wherever that is.
//
// Health outlives the routing table: a new table resets no state machine and forgets no record, and a node that takes a member over inherits
// what the last observer found. What an operator said about a member is kept on disk and spreads to all nodes without any quorum.
//
// The rest of watching lives in packages of its own: metrics, cdrlog, calllog, admin. This package imports neither sbc nor cluster: what it
// needs of them are the functions in [Config], which the application wires.
package monitor
