// Package lcr is the least-cost contract as pure code: what a decision server is asked
// and what its answers mean, how long an answer is good, when a server is left alone,
// and where answers are kept. It asks nobody: package sbc/lcr/client does. It dials
// nobody either: a RouteSet of package trunkgroup is what comes out.
//
//	request.go   the question, as JSON (rules 1.2.c)
//	response.go  the answer, read within bounds (rules 1.2.d)
//	route.go     one route of an answer
//	keep.go      how long an answer is good (C6)
//	breaker.go   when a server that fails is left alone
//	cache.go     answers by plan, trunk group and number, read without a lock
//	key.go       the key of an answer, here and between nodes
//	hop.go       where a route leads that names no group
//	share.go     what nodes tell each other of an answer
package lcr
