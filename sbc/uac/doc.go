// Package uac is what the node does as a client of a carrier, as pure code: it
// answers digest challenges with the hashes of an account, and keeps one
// registration alive. It sends nothing: a Registration returns what to send and
// when, and takes what came back. It judges no credentials of others (package
// sbc/auth) and registers nobody here.
//
//	challenge.go     WWW-Authenticate and Proxy-Authenticate read
//	secret.go        which challenge is answered, and how
//	registration.go  a registration's states, exchanges and deadlines
//	result.go        what the answers to a REGISTER mean
//	contacts.go      the contacts that a registrar says it holds
//	status.go        what people see of it
//	contact.go       the user of our Contact, which names the account
package uac
