// Package keyring holds the secrets of a cluster and derives from them the
// keys that each protocol uses.
//
// The first secret is the one a node offers; the others are still accepted, so
// that a secret is replaced without a restart of the whole cluster: add the new
// one everywhere, make it first everywhere, remove the old one everywhere. No
// secret is ever used twice for different ends and none is ever sent: a protocol
// names its own label and gets a key of its own (HKDF-SHA256, RFC 5869). The
// package is pure.
package keyring
