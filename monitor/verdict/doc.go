// Package verdict decides what a node believes about each member: which observer's record it follows, when probe results are not to be
// believed at all, and what an operator has said. Its result is a [Board]: the trunkgroup.View that calls are planned with, and the same in
// words for people.
//
// The package is pure: it does no I/O and reads no clock. The time is an argument, and a board says when it must be built again.
//
// # Whose verdict counts (DEC-13)
//
// Only the nodes of a member's own site probe it, one node per member: the one that rendezvous hashing names over the live nodes of the
// site ([Owner]). What it finds travels as a [Record], keyed by target, observer, boot and sequence. Records of different observers are never
// merged. A reader follows the observer that rendezvous names over the reader's own live set while that record is young, else the youngest
// other young record, else the member is unknown, which gets calls. Young is told by the receiver's clock alone: records carry ages, no
// wall-clock times.
//
// # When verdicts are not believed (DEC-12)
//
// [Isolated] says that it is this node that lost the network. In [Panicking] sites most members went down together, and calls are tried anyway.
//
// # What an operator said (DEC-25)
//
// A [Knob] holds one member's administrative state with author and reason, until it expires. Knobs spread like records but belong to
// nobody: the highest version wins everywhere.
package verdict
