package auth

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Algorithm is a digest hash of RFC 7616 section 6.1, without the session variants. Challenges offer SHA-256, which RFC 8760 asks for,
// SHA-512-256, and MD5, which serves the equipment that has nothing else.
type Algorithm uint8

// The algorithms.
const (
	NoAlgorithm Algorithm = iota // one that we do not have
	MD5
	SHA256
	SHA512256
)

// String is how documents and challenges write it.
func (a Algorithm) String() string {
	return [...]string{"", trunkgroup.AlgorithmMD5, trunkgroup.AlgorithmSHA256, trunkgroup.AlgorithmSHA512256}[a]
}

// ParseAlgorithm reads the algorithm parameter; nil, for none, means MD5 (RFC 7616 section 3.4).
func ParseAlgorithm(v []byte) Algorithm {
	switch {
	case v == nil, equalFold(v, "md5"):
		return MD5
	case equalFold(v, "sha-256"):
		return SHA256
	case equalFold(v, "sha-512-256"):
		return SHA512256
	}
	return NoAlgorithm
}

// AppendHash appends the digest of data in lower-case hexadecimal.
func (a Algorithm) AppendHash(dst, data []byte) []byte {
	switch a {
	case SHA256:
		sum := sha256.Sum256(data)
		return hex.AppendEncode(dst, sum[:])
	case SHA512256:
		sum := sha512.Sum512_256(data)
		return hex.AppendEncode(dst, sum[:])
	default:
		sum := md5.Sum(data)
		return hex.AppendEncode(dst, sum[:])
	}
}

// HA1 is what is kept in the place of a password (RFC 7616 section 3.4.2).
func (a Algorithm) HA1(username, realm, password string) string {
	return string(a.AppendHash(nil, []byte(username+":"+realm+":"+password)))
}
