// Package dialmap redirects dials: a node that must reach a peer through a
// relay or a NAT address dials the mapped address instead of the one that the
// peer advertises.
//
// Every dial of the cluster (gossip over UDP and TCP, the interconnect and the
// raft streams that run over it) passes through one Map, so that the addresses
// which nodes advertise stay the same in every site and only the way to them
// differs. The package is pure: it rewrites strings and opens nothing.
package dialmap
