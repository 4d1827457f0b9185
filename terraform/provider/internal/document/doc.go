// Package document edits the text of a cluster document in place.
//
// A document has parts of several owners: of people, who write comments, and of
// programs. An edit names one part, a key of a mapping or an item of a list, and
// changes the octets of that part alone; all others stay as they were written. What
// an edit made is read again and compared with what was meant, so that an unforeseen
// way of writing YAML is refused with [ErrEdit] and never damaged.
//
// The package knows the form of the document, lists of things that have a name, and
// not its meaning, which is the business of the nodes.
package document
