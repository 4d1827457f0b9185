package uac

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// tokenPrefix begins the user of our Contacts: a letter, so that it never reads as a
// number. What follows is hexadecimal, which survives carriers that change the case.
const tokenPrefix = "r"

// tokenLen is the length of a token in bytes: 128 bits and the prefix.
const tokenLen = len(tokenPrefix) + 32

// Token is the user of the Contact under which a member's account is registered. It
// is the same at all nodes of a cluster and at all times, until the key goes, and
// nobody else can make it.
func Token(key []byte, m *trunkgroup.Member) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(m.Key))
	mac.Write([]byte{0})
	mac.Write([]byte(m.Account.AOR))
	return tokenPrefix + hex.EncodeToString(mac.Sum(nil)[:16])
}

// IsToken tells whether a user has the form of a token, in whatever case.
func IsToken(user []byte) bool {
	if len(user) != tokenLen || user[0]|0x20 != tokenPrefix[0] {
		return false
	}
	for _, c := range user[1:] {
		if c |= 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
