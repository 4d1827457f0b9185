package auth

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// algorithm is a digest hash of RFC 7616 section 6.1, without the session variants. Challenges offer SHA-256, which RFC 8760 asks for,
// SHA-512-256, and MD5, which serves the equipment that has nothing else.
type algorithm uint8

const (
	algorithmNone algorithm = iota
	algorithmMD5
	algorithmSHA256
	algorithmSHA512256
)

// name is how documents and challenges write it.
func (a algorithm) name() string {
	return [...]string{"", trunkgroup.AlgorithmMD5, trunkgroup.AlgorithmSHA256, trunkgroup.AlgorithmSHA512256}[a]
}

// parseAlgorithm reads the algorithm parameter; none means MD5 (RFC 7616 section 3.4).
func parseAlgorithm(v []byte) algorithm {
	switch {
	case v == nil, equalFold(v, "md5"):
		return algorithmMD5
	case equalFold(v, "sha-256"):
		return algorithmSHA256
	case equalFold(v, "sha-512-256"):
		return algorithmSHA512256
	}
	return algorithmNone
}

// appendHash appends the digest of data in lower-case hexadecimal.
func (a algorithm) appendHash(dst, data []byte) []byte {
	switch a {
	case algorithmSHA256:
		sum := sha256.Sum256(data)
		return hex.AppendEncode(dst, sum[:])
	case algorithmSHA512256:
		sum := sha512.Sum512_256(data)
		return hex.AppendEncode(dst, sum[:])
	default:
		sum := md5.Sum(data)
		return hex.AppendEncode(dst, sum[:])
	}
}

// scratch bounds the bytes that a response computation keeps on the stack: two digests, a nonce, a cnonce and separators of usual size.
const scratch = 512

// appendResponse appends the response value that RFC 7616 section 3.4.1 asks for: with qop H(HA1:nonce:nc:cnonce:qop:H(A2)), without it
// H(HA1:nonce:H(A2)) as in RFC 2069.
func (a algorithm) appendResponse(dst, ha1 []byte, method string, p *params) []byte {
	var a2 [scratch]byte
	b := append(a2[:0], method...)
	b = append(b, ':')
	b = append(b, p.uri...)
	var ha2 [2 * sha256.Size]byte
	h2 := a.appendHash(ha2[:0], b)
	p.hashes++

	var buf [scratch]byte
	b = append(buf[:0], ha1...)
	b = append(b, ':')
	b = append(b, p.nonce...)
	b = append(b, ':')
	if p.qop != nil {
		b = append(b, p.nc...)
		b = append(b, ':')
		b = append(b, p.cnonce...)
		b = append(b, ':')
		b = append(b, p.qop...)
		b = append(b, ':')
	}
	b = append(b, h2...)
	p.hashes++
	return a.appendHash(dst, b)
}
