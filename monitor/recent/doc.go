// Package recent keeps what the last calls of a node asked of its routing: who
// called from where, and what was dialled. `tandem config plan` asks a new
// document the same questions before anybody applies it.
//
// A Ring is bounded in entries and in bytes, and takes a call without a lock:
// one atomic add and one store, from any number of shards. What is read while
// calls are added may miss the newest and never shows half a call.
package recent
