// Package spool keeps on disk what charging servers have yet to be told, and what is to be told if this
// node dies (charging.Will). What is kept is written by a goroutine of its own: nobody waits for the
// disk. A disk that fails costs nothing but the safety: all is in memory too, and written anew when the
// disk takes it again.
//
// The file is a journal, one JSON object per line. What was written before a kill is read again; a line
// that is torn or damaged is passed over and counted.
package spool
