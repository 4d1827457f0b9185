// Package sbc is a node's call engine: sockets, shards and the interconnect
// around the pure core in sbc/b2bua.
//
// A Server has one shard per core. A shard is one goroutine that owns its
// calls; everybody else sends it events through its inbox, in the order in
// which the sockets gave the messages. A message finds its shard without any
// shared table: responses by our branch, requests by Call-ID.
//
// The packages below it each do one job: sip reads and writes messages,
// transport owns the sockets, transaction and hunt are state machines, mint
// makes identifiers, auth checks digests, sim plays the far ends.
package sbc
