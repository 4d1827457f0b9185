// Package client speaks with the admin API of a cluster's nodes.
//
// Any node answers and any node takes a change, so that the client has a list of
// endpoints and goes on with the next when one is gone. A change is an edit of the
// document in force ([Client.Commit]): the client reads the document, has it edited,
// and applies it on the condition that its revision is still in force. The same change
// is sent again, under the same key, while it is not known what became of it, so that a
// leader that dies in the middle of it makes one revision or none. Changes that are
// wanted at the same time become one revision where they can.
package client
