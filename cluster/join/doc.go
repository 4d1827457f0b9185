// Package join lets a new node into a cluster: by a token that one node makes, for
// one name, for a short time, to be used once.
//
// # The exchange
//
// The token says where the node is that made it, its name, the fingerprint of the
// cluster's authority, and a secret. The newcomer makes its private key itself, dials
// that node by TLS, holds its certificate against the fingerprint and the name, and only
// then sends the secret and a request for a certificate. It gets the certificate, the
// authorities, the cluster keys, and who the other nodes are. The private key never
// leaves its machine.
//
// # Single use, over the whole cluster
//
// A token is taken by the node that made it and by no other: no other knows its secret,
// and the newcomer takes nobody's word but that node's. So whether it was used is written in one place, and is
// on disk before the answer leaves. Two who use it at once, through whatever nodes, in
// a partition or not: one gets in. The price is that a token dies with its node, and that an
// answer that is lost on the way costs a new token.
//
// # Time
//
// A token's life is measured by the clock of the node that made it alone. The newcomer's clock matters
// for certificates only; see package pki.
//
// # What it does not do
//
// It does not decide who may make tokens (the admin API does), and it holds no private key of an authority: a function
// that signs is given to it.
package join
