// Package linear checks that a history of changes of the cluster document, made by
// several clients on several nodes under faults, is one that a single copy of the
// document could have given: that it is linearizable.
//
// Clients record what they ask and what they are answered, with the moments of both.
// A change whose outcome a client never learned may have been applied at any later
// moment or not at all. The check is that of the library porcupine over a model of the
// rules of package cluster/fsm: compare and set on the revision, an equal document
// makes no revision, versions rise. A conflict is answered through the log and names
// the current revision, so it is a linearizable read; changes that expect an impossible
// revision serve as reads.
//
// It is for tests and imported by nothing else.
package linear
