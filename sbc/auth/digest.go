package auth

import "crypto/sha256"

// scratch bounds the bytes that a response computation keeps on the stack: two digests, a nonce, a cnonce and separators of usual size.
const scratch = 512

// appendResponse appends the response value that RFC 7616 section 3.4.1 asks for: with qop H(HA1:nonce:nc:cnonce:qop:H(A2)), without it
// H(HA1:nonce:H(A2)) as in RFC 2069.
func (a Algorithm) appendResponse(dst, ha1 []byte, method string, p *params) []byte {
	var a2 [scratch]byte
	b := append(a2[:0], method...)
	b = append(b, ':')
	b = append(b, p.uri...)
	var ha2 [2 * sha256.Size]byte
	h2 := a.AppendHash(ha2[:0], b)
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
	return a.AppendHash(dst, b)
}
