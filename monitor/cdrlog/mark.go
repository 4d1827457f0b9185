package cdrlog

// Mark returns a place behind every record that the caller has written so far.
func (l *Log) Mark() uint64 { return l.accepted.Load() }

// Past reports whether everything before a mark is on disk. What could not be encoded
// counts as past: it will never be there.
//
// Records reach the disk in the order in which they were queued, and a record is counted
// before it is queued. So no record that was queued before a mark was taken has a number
// above it.
func (l *Log) Past(mark uint64) bool { return l.written.Load()+l.unusable.Load() >= mark }
