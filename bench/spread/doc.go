//go:build linux

// Command spread sends the same keys through Tandem's hash distributions and a real
// Kamailio's, takes a member out, brings it back, adds one, and says how many keys
// went elsewhere and how evenly the others took them (C2, D1):
//
//	go run ./bench/spread                 100,000 Call-IDs over six members
//	go run ./bench/spread -keys 10000     fewer
//
// The table goes to standard output and stands in docs/distribution.md. Without
// Kamailio its rows are left out with a message.
package main
