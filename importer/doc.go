// Package importer turns the configuration of other systems into a cluster
// document: Kamailio's dispatcher, Routr's resources and Siphon's gateways.
//
// Every conversion answers with a Result: a document that is free of faults, and
// a Report in which each thing that was read says what it became, or why it has no
// equal here and what to do about that. Nothing is dropped in silence. What a
// source system does beside its documentation counts too: Kamailio, for one,
// places later lines first.
//
// The package is pure. It reads texts that the caller has, never a file, and it
// takes what it reads for hostile: sizes are bounded, and a password becomes its
// hashes without being shown anywhere.
//
// Begin with Kamailio, Siphon or Routr; Result.settle has what they share.
package importer
