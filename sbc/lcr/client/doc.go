// Package client asks decision servers over HTTP for the calls of a node. What is known
// is read without a lock; else one question for each key is under way, everybody who
// wants to know the same waits for it, and one deadline holds for all of it: the
// server's name, the connection, TLS, the answer, and the names in the answer. When it
// passes, or the answer is none, calls get the plan's fallback (S-093) or no decision
// (S-011), and a server that goes on failing is left alone for a while.
//
//	config.go   what it is made from
//	client.go   what is known at once, and who must wait
//	plan.go     one plan's server: its breaker and its counts
//	flight.go   one question, from the wire to the calls that wait for it
//	exchange.go HTTP
//	names.go    addresses of hosts that answers name
//	keep.go     answers that are kept, those of other nodes among them
//	status.go   what operators and metrics see
package client
