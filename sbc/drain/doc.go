// Package drain says when a node that is taken out of service may end. It is the
// state machine of DEC-19, pure: time and what the node sees are arguments.
//
// A drain has three phases. While it announces, far ends and other nodes are told
// that the node goes and every call is still taken. While it passes, new calls go
// to a sibling of the site. When it ends, what is left is ended with a reason. An
// idle node goes through all of them at once.
package drain
