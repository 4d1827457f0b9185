// Package soft is the replicated store of soft state: what a node knows that
// another one must be able to go on with, and that no disk has to remember.
// Answered calls, registrations, affinity, cached routing answers and counters are
// entries of it.
//
// # Owners and streams
//
// Every entry has one owner, the node that put it, under the boot number that the
// process had (DEC-13). An owner with its boot is an origin; each origin numbers its
// changes 1, 2, 3 and so on. A copy of an origin is described by one number, its
// tip: every change up to there is known, as far as a later one has not replaced it.
// So what a node has is one vector, a number per origin, and what it lacks of a peer
// is a comparison of two vectors. An origin never changes again once its process is
// gone, whoever passes it on.
//
// # Messages
//
// A frame is one of three. Delta carries the changes of one origin from one number
// to another; an owner sends its own to all peers as they are made. Have is the
// vector: it goes to a peer that came up and in turn to one peer every few seconds.
// Who sees in it that something is missing answers with Want, and gets a window of
// deltas; the last of them asks for the next Want. So a node that returns pulls at
// its own pace and cannot flood the stream that it shares with calls. What the owner
// itself cannot give, because it is dead or behind a cut, is asked of any peer that
// has it. Nothing is assumed about the order or the arrival of frames: what does not
// fit is dropped and asked for again.
//
// # Removal
//
// A removed entry leaves a tombstone, kept for a time of its kind's rule. A copy that
// was away for longer may have missed tombstones that are gone by now. It therefore
// gets the whole origin anew, and what is not in it is swept.
//
// Expiry travels as remaining time and age as elapsed time, so clocks of nodes are
// never compared (DEC-15).
//
// # Versions over all owners
//
// A kind that is Versioned has one entry per key over all owners: a change has the
// highest version seen plus one, ties go to the higher node name, and the loser is
// dropped everywhere (DEC-15: a registration may be refreshed at any node).
//
// Versions order what was written in the knowledge of what it replaces. A node that was cut
// off, or that has just started and not heard yet what there is, writes without: of a kind
// that goes by the Newest, the owner of an entry that meets a higher version which is older
// than its own writes its own anew, above that version. Ages are compared by the owner alone, so
// that never two insist against each other.
//
// # Death of an owner (DEC-15)
//
// Entries of a kind that is kept stay until they expire. The others go when the rule's
// Linger has passed since the loss; Linger zero drops them at once. If the owner comes
// back under the same boot, as after a partition, its copy is fetched anew.
//
// # Bounds
//
// Entries and octets are bounded. A cache kind gives its oldest entries away when room
// is needed; beyond that a Put fails and a received entry is refused and counted. When there is room again, the
// owners of what was refused are asked for all that they have.
//
// The package is pure: no clock, goroutine, lock or network.
package soft
