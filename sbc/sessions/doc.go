// Package sessions counts the calls at far ends and remembers to which far end
// calls of one affinity value go.
//
// A Table holds what distributions go by: for every far end of a
// group that counts, a member or one binding of a member that registers, the
// calls of this node and those of all others. Shards enter and leave with one
// atomic addition, a plan reads with two loads, and neither takes a lock: the
// lock is for far ends that nobody has seen before, for tables and for news of
// other nodes. What this node counts is told to the others by whoever calls
// Changed, a few times a second.
//
// A Memory holds the assignments of affinity values. Reading it
// takes no lock; what is new goes to a bounded queue, whose reader shares it with
// all nodes. When the queue is full the assignment is not shared, which the next
// call with the value makes up for.
package sessions
