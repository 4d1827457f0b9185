package provider

import (
	"crypto/md5" //nolint:gosec // RFC 7616 has it, for PBXs that know nothing else
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// hashKeys are the keys of a digest user that hold hashes of its password.
var hashKeys = []string{"ha1_sha256", "ha1_sha512_256", "ha1_md5"}

// hashes are HA1 of RFC 7616 section 3.4.2, in the order of hashKeys: what
// tandem credential hash prints.
func hashes(username, realm, password string) []string {
	text := []byte(username + ":" + realm + ":" + password)
	long, longer, short := sha256.Sum256(text), sha512.Sum512_256(text), md5.Sum(text)
	return []string{hex.EncodeToString(long[:]), hex.EncodeToString(longer[:]), hex.EncodeToString(short[:])}
}

// checkPassword says what cannot be hashed.
func checkPassword(v values) error {
	username, realm := v.text("username"), v.text("realm")
	switch {
	case v.text(passwordAttribute) == "":
		return fmt.Errorf("%s of %s is missing: it is needed when the user is made, and when %s changes", passwordAttribute, username, versionAttribute)
	case strings.ContainsAny(username, ":\"\\\r\n") || strings.ContainsAny(realm, "\"\\\r\n"):
		return fmt.Errorf("%q in realm %q: a colon in the user name, and quotes, backslashes and line ends in either, cannot be used in digest authentication", username, realm)
	}
	return nil
}

// fingerprint tells hashes from others. It has 12 bits: enough to notice another password
// but for one time in 4096, too few to test a guess of the password with.
func fingerprint(user *yaml.Node) string {
	var all []string
	for _, k := range hashKeys {
		if v := document.Value(user, k); v != nil {
			all = append(all, strings.ToLower(v.Value))
		}
	}
	sum := sha256.Sum256([]byte(strings.Join(all, " ")))
	return hex.EncodeToString(sum[:])[:3]
}

// userName is how a digest user is named among all of its trunk group.
func userName(v values) string { return v.text("username") + "@" + v.text("realm") }
