// Package clerk owns the charging of all calls of a node: one goroutine steps the machines of
// charging, sends what they ask by the peers, keeps on the spool what must not be lost, and tells each
// call's shard what became of its credit. Calls never wait for it: they give it what happened and go on.
//
//	clerk.go     Begin, Connect, End: what calls say; the goroutine
//	session.go   the two machines of a call, and what their actions do
//	courier.go   what is kept is sent until it is answered, in order per session
//	status.go    counts, and what an operator sees
package clerk
