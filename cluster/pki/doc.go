// Package pki is the certificate side of a cluster's trust: what a node proves itself
// by on the streams between nodes, how it judges what others show, and how a cluster's
// own authority issues certificates.
//
// # Names
//
// A node's certificate holds one DNS name NODE.CLUSTER.tandem.internal (Name). That
// name is the identity (DEC-08): whoever shows the certificate of dal-1 is dal-1 and
// nobody else, whatever he says of himself, and a certificate of another cluster opens
// nothing here, even under the same authority.
//
// # Time
//
// Certificates are judged by the wall clock of who judges. What is issued here begins
// an hour in the past (Backdate), so that a new node is not refused by one whose clock
// is late; an error about validity always shows both times, since a wrong clock and a
// wrong certificate look alike.
//
// # What it does not do
//
// It opens no file and no socket and logs nothing. Private keys leave it only where a
// function's purpose is to return one. There are no revocation lists: an authority is
// replaced instead (its streams are then closed, see package interconnect).
package pki
