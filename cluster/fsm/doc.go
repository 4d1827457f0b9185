// Package fsm is the state machine that the nodes of a cluster replicate by
// consensus: the cluster document, its revisions and who made them, the number
// table, its editions and who made them, and the rate decks with theirs.
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
// # Numbers
//
// The number table stands beside the document: millions of patterns, of which one
// changes at a time. Its commands (all of one kind, see Numbers) carry what changes
// and never the table. The state holds a persistent table, so a change costs what it
// changes and readers of the old table keep it.
//
//   - The table has a version of its own, (generation, edition), which only rises by
//     the rules of the document's. A change or an import may name the edition that its
//     author saw.
//   - What fits into one command is one change. More is an import: it is opened, gets
//     its rows in numbered pieces, and is committed in one step, so that readers see all
//     of it or nothing. An import is a branch of the table. What changes the table in the
//     meantime changes the branches as well, in the same order on all nodes; who commits
//     names the edition up to which he has seen such changes, and puts his own rows
//     over them if he wants.
//   - A piece that comes again is answered and not applied again; one that comes too
//     early is refused.
//   - An import whose last piece is older than ImportPatience is over as soon as another
//     one is opened; of those, MaxImports can be open. Commit of one ends the others.
//   - Whether a group exists is not asked here: it is the document that knows, and a row
//     of a group that is not there owns nothing.
//
// # Rate decks
//
// They stand beside the document too, each of them as octets that are opaque here, with a
// version of their own for all of them together. A deck comes as an upload: opened with size
// and SHA-256, then in numbered pieces, and committed in one step, in the place of the deck
// of its name. What is not whole then is refused. A deck that is equal makes no edition.
//
// # Bounds
//
// The history keeps the last MaxHistory revisions and at most MaxHistoryBytes of
// documents; the keys of the last MaxKeys changes are remembered.
package fsm
