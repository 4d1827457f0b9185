// Package cdrindex finds call records: it reads the files that package cdrlog writes into a
// SQLite database beside them and answers questions from there.
//
// The files are the truth and the index is a copy of it. The index follows them by
// itself: it never stands between a call and its record, and a call never waits for it. How
// far it has read stands in the same transaction as what it has read, so a crash costs
// nothing, and reading a line twice changes nothing: of each call id and kind the
// record with the highest version is kept (DEC-24). What is lost, damaged or of another
// form is thrown away and made anew from the files.
//
// It is bounded: calls that began longer ago than Keep go, and the oldest ones go when
// the database is larger than Size. Reading is bounded by the context of the question.
//
// Begin reading at [Index]; tail.go knows the files, store.go writes and find.go reads the
// database. What a question means is in package cdrquery.
package cdrindex
