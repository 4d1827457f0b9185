// Package cluster makes one process a node of a cluster: it knows the other nodes
// and which of them live, holds the cluster document by consensus, and publishes
// from it the table that the node routes from.
//
// # Purpose
//
// A Node joins four parts. The interconnect (package interconnect) keeps warm
// streams to all nodes and judges who lives. Gossip (package gossip) spreads
// membership, node states and records. Raft replicates the document (package fsm).
// The publisher turns each newer document into a Table and keeps the last known
// good one on disk. Nothing of this is on the path of a call: a call reads the
// Table that was published and sends frames that never block.
//
// # Not its purpose
//
// It does not decide where calls go, does not probe members, and does not read
// YAML: the shell that builds a Node injects the function that compiles a document.
//
// # Start and loss of quorum (DEC-14)
//
// A restarted raft node has an empty state machine until a leader confirms what is
// committed, so a node that restarts without quorum would know nothing. Therefore
// every table that becomes current is first written to disk (temporary file, fsync,
// rename, SHA-256), and a start publishes that file before any packet is sent. From
// then on only a higher (generation, revision) of the same cluster is published: the
// replay of the log publishes nothing until it has passed the running table. What
// is refused is counted and, when it is not the replay, raised as an alarm.
//
// The boot number is raised and written to disk before the first packet (DEC-13). A
// node without one (first start, or lost data) asks its peers for the highest number
// that they have seen of it and starts above it.
//
// # Writes
//
// Propose works on every node: it validates the document, wraps it with an
// idempotency key and passes it to the leader on a stream of its own, again and
// again until the leader answers or the context ends. Without quorum it fails at once
// and says which voters are missing. Reads and calls go on. The history of changes is
// linearizable under partitions, crashes and lost disks; the tests check that.
//
// # Canary (DEC-25)
//
// Stage commits a document for one site under the next revision; Promote makes it the
// cluster's under the same one, Abandon brings the old document back under a higher
// one. So the version that a node runs only rises. The exception is Breach: a node goes
// back from its own canary by itself, notes that on disk, and takes the canary again
// only when it is promoted.
//
// # Numbers
//
// The number table (fsm.Numbers) stands beside the document: millions of patterns, replicated
// as changes. ChangeNumbers makes one change; ImportNumbers compares a list with the table,
// sends what differs in pieces to a branch, and has the branch become the table in one step.
// The publisher puts the table beside whatever document runs, without compiling it again. On
// disk it is kept outside the log as the document is (DEC-14): a base, and a journal that is
// flushed before calls see a change. Its (generation, edition) rises by the same rules.
// Snapshots of raft hold it too, so they are taken by how much there is to replay.
//
// # Membership of the consensus
//
// The voters are listed in the node file, the same list for all; each bootstraps
// with it at its first start, which is safe because the configurations are equal.
// Every other member that gossip brings is added by the leader as a non-voter: it
// follows and votes only in place of a voter of its site that was dead for long. A
// voter that lost its log must not vote, since it does not know what it promised: the
// leader takes its vote away and gives it back when it has the log. A witness is a
// voter without calls; it waits three times as long before it stands for election, and
// gives leadership away as soon as another voter can take it.
//
// Remove takes a node that has stopped out of the membership and out of every node's
// memory, on an order. Only what a node file says is remembered across a restart.
//
// # Recovery (DEC-14)
//
// When most voters are lost, Recover makes one node the only voter in a new epoch. Every
// RPC of raft carries the epoch (in the address of its header, so that builds without
// epochs understand it while there is none), and those of other epochs are refused. A
// node that meets a later epoch leaves the consensus until Rejoin discards its log.
//
// # Disk
//
// When the log cannot be written, raft ends, its last promises are kept from leaving
// the node, and it begins again when the disk takes writes. A log that is damaged shows
// at the start, where all of it is read. Neither touches the table that runs.
//
// # Trade-offs
//
// raft, proposals and the interconnect share one handshake (package hello) and may
// share one port. Snapshots are taken after a few dozen changes, not thousands,
// because a change holds a whole document.
package cluster
