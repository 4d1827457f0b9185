// Package atrest seals what a node keeps on disk, so that a disk, a copy of a
// data directory or a backup alone gives nobody the hashes of passwords that
// the configuration holds.
//
// Envelopes have two layers. A [Key] is 32 random octets that seal data with
// AES-256-GCM under a fresh random nonce; it is made once per data directory and
// once per backup, and never changes, so that a change of the cluster key rewrites
// no data. Its envelope holds the Key wrapped, by the same cipher, under a key that is
// derived (HKDF-SHA256) from each secret of the cluster's keyring: whoever holds
// one of them opens it, and when the ring changes only the envelope is written
// again.
//
// A sealed text is bound to a label, which says what and where it is: an entry of the log that
// is put in another one's place does not open.
//
// It does not hide how much there is, or when it was written, and it does not help
// against whoever reads the memory of a node or its key file. It does no I/O.
package atrest
