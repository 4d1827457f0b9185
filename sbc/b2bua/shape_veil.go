package b2bua

import (
	"bytes"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// veil stands between a caller and a far end that is shown another one in his place, or
// nobody: it holds for the INVITE and for all that the caller sends in the dialog.
type veil struct {
	withheld bool // nothing may tell who he is (S-085)
	secrets  [][]byte
}

// shortestSecret is how many digits of a number tell whose it is, wherever they stand.
const shortestSecret = 7

// telling are the headers that say who somebody is in other words than his number (RFC
// 3323 section 4.1): of a caller who is withheld they do not pass.
func telling(h *sip.Header) bool {
	switch h.ID {
	case sip.CallInfo, sip.InReplyTo, sip.Organization, sip.ReferredBy, sip.Subject, sip.Warning:
		return true
	case sip.Other:
		return bytes.EqualFold(h.Name, []byte("Reply-To"))
	}
	return false
}

// passes reports whether a header of the caller's may go to the far end. Who he is says the
// INVITE alone, in the way that the route wants; an Identity is signed for the number that
// is not shown (RFC 8224 section 4).
func (v *veil) passes(h *sip.Header) bool {
	if v == nil {
		return true
	}
	if identityHeader(h.ID) || h.ID == sip.Identity {
		return false
	}
	return !v.withheld || h.ID == sip.Privacy || !telling(h) && !v.mentions(h.Value)
}

// appendVeiled appends the headers of a message inside the dialog that may cross.
func (v *veil) appendVeiled(dst []byte, m *sip.Message) []byte {
	if v == nil {
		return appendCrossing(dst, m)
	}
	m.Each(func(h sip.Header) bool {
		if !stays[h.ID] && v.passes(&h) {
			dst = append(append(append(append(dst, h.Name...), ": "...), h.Value...), "\r\n"...)
		}
		return true
	})
	return dst
}

// keep remembers a number, or a name, that must not be told: of a number the end, which is
// the same however it is written.
func (v *veil) keep(user []byte) {
	var buffer [64]byte
	if plain, ok := number.Plain(buffer[:0], user); ok {
		user = bytes.Clone(plain)
	}
	digits := make([]byte, 0, len(user))
	name := false
	for _, c := range user {
		if c >= '0' && c <= '9' {
			digits = append(digits, c)
		} else if c != '+' && !separates(c) {
			name = true
		}
	}
	if n := len(digits); n >= shortestSecret {
		v.secrets = append(v.secrets, digits[n-shortestSecret:])
	} else if n >= shortestName && !name {
		v.secrets = append(v.secrets, digits)
	}
	if name && len(user) >= shortestName {
		v.secrets = append(v.secrets, user)
	}
}

// shortestName is how long a name must be, or the number of an extension, to be looked for.
const shortestName = 3

// separates tells what may stand between the digits of a number (RFC 3966 section 3).
func separates(c byte) bool { return c == '-' || c == '.' || c == '(' || c == ')' || c == ' ' }

// mentions reports whether a value holds one of the secrets, its digits together or apart.
func (v *veil) mentions(value []byte) bool {
	plain := make([]byte, 0, len(value))
	for _, c := range value {
		if !separates(c) {
			plain = append(plain, c)
		}
	}
	for _, s := range v.secrets {
		if contains(plain, s) || contains(value, s) {
			return true
		}
	}
	return false
}

// contains looks for a secret. One that is short counts where nothing stands beside it that
// makes another word or number of it.
func contains(value, secret []byte) bool {
	for from := 0; ; {
		i := bytes.Index(value[from:], secret)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(secret)
		if len(secret) >= shortestSecret || !(start > 0 && wordly(value[start-1]) || end < len(value) && wordly(value[end])) {
			return true
		}
		from = start + 1
	}
}

func wordly(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
