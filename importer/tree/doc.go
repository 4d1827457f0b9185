// Package tree reads the YAML that other systems are configured with, whose keys
// nobody can know all of. It remembers which parts were asked for, so that an
// import can tell what it has not understood.
//
// It says nothing of what a text means, and it is no reader of cluster documents,
// which package yamldoc is.
package tree
