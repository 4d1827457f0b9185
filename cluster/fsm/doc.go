// Package fsm is the state machine that the nodes of a cluster replicate by
// consensus: the cluster document, its revisions and who made them.
//
// # Purpose
//
// Apply takes one encoded command and changes the state; every node that applies
// the same commands in the same order holds the same state, octet for octet. The
// document is opaque here: who proposes a change has validated it, and who
// publishes a table compiles it. The package is pure: no clock (the proposer puts
// the time into the command), no randomness, no map order.
//
// # Rules
//
//   - A change may name the revision that its author saw; it is refused when
//     another one came first (compare and set).
//   - A change carries a key that is unique to the author's intent. A change whose
//     key was applied before is not applied again but answered as the first time,
//     so a proposer may repeat it when an answer was lost.
//   - A document equal to the current one makes no revision.
//   - (generation, revision) only rises: a change raises the revision, restore and
//     recovery raise the generation as well (DEC-14).
//   - A command of a version or kind that this build does not know is refused, and
//     with it everything after it: the state would differ from that of the nodes
//     which understood. The machine is then halted, takes no snapshot, and the node
//     must stop being ready until a later build replays the log.
//
// # Bounds
//
// The history keeps the last MaxHistory revisions and at most MaxHistoryBytes of
// documents; the keys of the last MaxKeys changes are remembered.
package fsm
