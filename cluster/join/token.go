package join

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
)

// Token is what a newcomer is given. As text it is a secret.
type Token struct {
	Cluster string
	// Node is the name of who may join by it.
	Node string
	// Issuer made it, and takes streams at Address (host:port).
	Issuer  string
	Address string
	// Authority is the SHA-256 of the certificate that signs the nodes'.
	Authority [sha256.Size]byte
	// ID names it in logs, Secret proves it.
	ID     ID
	Secret [32]byte
}

// ID names a token without telling anything of it.
type ID [8]byte

// String is the id in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// mark begins the text of each token, with its version.
const mark = "tandem-join-1."

// maxToken bounds the text of a token.
const maxToken = 2048

// ErrToken is returned for text that is no token.
var ErrToken = errors.New("join: this is no join token")

// String keeps a token out of logs; Text gives it away.
func (t Token) String() string { return "join token " + t.ID.String() }

// GoString does the same for %#v.
func (t Token) GoString() string { return t.String() }

// Text is the token as it is handed over.
func (t Token) Text() string {
	b := append([]byte(nil), t.ID[:]...)
	b = append(b, t.Secret[:]...)
	b = append(b, t.Authority[:]...)
	for _, s := range []string{t.Cluster, t.Node, t.Issuer, t.Address} {
		b = append(append(b, byte(len(s))), s...)
	}
	sum := sha256.Sum256(b)
	return mark + base64.RawURLEncoding.EncodeToString(append(b, sum[:4]...))
}

// Parse reads the text of a token. Its error does not repeat it.
func Parse(text string) (Token, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxToken {
		return Token{}, fmt.Errorf("%w: it is too long", ErrToken)
	}
	body, ok := strings.CutPrefix(text, mark)
	if !ok {
		return Token{}, fmt.Errorf("%w: it does not begin with %s", ErrToken, mark)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	const fixed = 8 + 32 + sha256.Size
	if err != nil || len(raw) < fixed+4 {
		return Token{}, fmt.Errorf("%w: it is cut or garbled", ErrToken)
	}
	b, check := raw[:len(raw)-4], raw[len(raw)-4:]
	if sum := sha256.Sum256(b); string(sum[:4]) != string(check) {
		return Token{}, fmt.Errorf("%w: it is cut or garbled", ErrToken)
	}
	t := Token{ID: ID(b[:8]), Secret: [32]byte(b[8:40]), Authority: [sha256.Size]byte(b[40:fixed])}
	rest := b[fixed:]
	for _, s := range []*string{&t.Cluster, &t.Node, &t.Issuer, &t.Address} {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return Token{}, fmt.Errorf("%w: it is cut or garbled", ErrToken)
		}
		n := 1 + int(rest[0])
		*s, rest = string(rest[1:n]), rest[n:]
	}
	if _, _, err := net.SplitHostPort(t.Address); err != nil || len(rest) > 0 || t.Cluster == "" || t.Node == "" || t.Issuer == "" {
		return Token{}, fmt.Errorf("%w: it is cut or garbled", ErrToken)
	}
	return t, nil
}

// fresh draws id and secret.
func (t *Token) fresh() error {
	if _, err := rand.Read(t.ID[:]); err != nil {
		return fmt.Errorf("join: token: %w", err)
	}
	if _, err := rand.Read(t.Secret[:]); err != nil {
		return fmt.Errorf("join: token: %w", err)
	}
	return nil
}
