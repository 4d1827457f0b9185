// Package audit keeps who changed what on a node: one line of JSON for each order that the node was given, passed on, carried out or heard of,
// and for each change that came by itself.
//
// The file is only ever added to. It is bounded: a full one is put aside under a number, and the oldest is removed. It is read by its
// owner alone (0600), and nothing in it is secret: an entry has named fields, none of which holds a document, a key or a password.
//
// Writing is off the path of everything else: [Log.Add] never blocks. What does not fit into its queue is lost and counted, and the
// next line that is written says how many were.
package audit
