// Package cdrlog writes call detail records as JSON Lines to a local file.
//
// [Log.Write] is called at the end of each call and does nothing but push a pointer on a lock-free list; encoding and disk are the business
// of one background goroutine. An accepted record is kept in memory until its line is on disk (written and synced), through any number of
// write errors, with growing pauses between the tries. Only when the disk stays broken until the backlog bound is reached are further
// records refused, which is counted and logged, never silent.
//
// Every record is written at least once. A line can appear twice when a sync failed after the write, so readers keep the highest version per
// (call id, kind), as DEC-24 asks of them anyway.
package cdrlog
