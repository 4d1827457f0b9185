// Package auth verifies the digest credentials of callers (RFC 7616, RFC 8760) without any state that a request must find again on
// the same node.
//
// A nonce carries its wall second and a MAC under a key that the whole cluster shares, so that a caller challenged by one node may
// answer to any other node of either site (DEC-25). What a node does remember is small and bounded: the highest nonce count seen for
// each nonce that was answered rightly, for as long as that nonce lives.
//
// A refusal never tells whether the user exists: the digest is computed and compared in every case, with a secret drawn from the
// cluster key where the user has none, and the caller of this package gets one outcome for both.
//
// The package does no I/O and reads no clock: the time is an argument. A [Verifier] may be used by many goroutines at once.
package auth
