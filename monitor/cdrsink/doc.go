// Package cdrsink passes the records in a node's spool (package cdrlog) on: to files of
// JSON Lines or CSV, to an HTTP server, to syslog.
//
// Each sink is a goroutine of its own that reads the spool behind the disk and keeps its
// place in a file. A sink that is slow, away or full stays behind and tries again, with
// growing pauses; it costs calls, the spool and other sinks nothing. Its place moves only
// when the other side has the records, so each is delivered at least once, and twice at
// most around a crash: a receiver keeps the highest version of each call id and kind
// (DEC-24). [Set] removes what all sinks have when its time is over.
//
// Begin at sink.go. What a sink writes is decided in package cdr/profile.
package cdrsink
