// Package hello is the handshake that opens every TCP stream between two nodes
// of a cluster: it tells both sides the protocol version, who the other one is
// and what the stream is for, and proves to each that the other holds the
// cluster key.
//
// # The exchange
//
//	dialer                                   acceptor
//	  hello(versions, purpose, identity, nonce) ->
//	            <- hello(versions, purpose, identity, nonce)
//	  proof = HMAC(dialer key, both hellos) ->
//	            <- status, HMAC(acceptor key, both hellos, status)
//
// Both nonces are 32 random octets and every octet of both hellos is under both
// proofs, so a recorded exchange proves nothing in another one and nobody can
// change a name, a version or a purpose on the way. The two sides use two keys,
// so a proof cannot be reflected. The dialer proves itself first: a stranger who
// dials in gets no MAC to work on. Secrets never cross the wire, only an id of
// the secret, and proofs are compared in constant time.
//
// What the handshake does not do: it encrypts nothing and does not protect the
// octets that follow. It keeps strangers out; against an attacker on the path
// between two nodes the stream must run inside TLS. Then Local.Proven holds the name
// in the peer's certificate, and a hello that says another one is refused (DEC-08).
//
// A dialer whose key the acceptor does not hold gets a bare hello that names the
// acceptor's key, so that a node which missed a step of a rotation can say so
// (UnknownKeyError). It proves nothing and tells nothing of the node.
//
// # Versions
//
// A node names the lowest and the highest protocol version that it speaks; the
// stream uses the highest that both speak. Octets that follow the known fields
// of a hello are ignored, so that a later version may add fields.
package hello
