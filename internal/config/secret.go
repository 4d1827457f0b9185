package config

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// KeySize is the length in bytes of the cluster key.
const KeySize = 32

// redacted is what a Secret shows of itself.
const redacted = "(redacted)"

// Secret holds bytes that must not be printed. Whatever formats, logs or encodes it gets a
// placeholder; only Bytes gives it away.
type Secret struct{ b []byte }

// NewSecret keeps bytes from being printed.
func NewSecret(b []byte) Secret { return Secret{b} }

// Bytes is the secret itself.
func (s Secret) Bytes() []byte { return s.b }

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return len(s.b) == 0 }

func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// GoString keeps %#v from printing the bytes.
func (s Secret) GoString() string { return s.String() }

// Format keeps every verb, %x and %d among them, from printing the bytes.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// LogValue keeps the bytes out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps the bytes out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func encodeSecret(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

var errKey = errors.New("want 32 bytes in base64 or hex")

// ParseKey reads a cluster key: 32 bytes written in base64 (standard or URL alphabet, with or without
// padding) or in hexadecimal. The error does not repeat the text.
func ParseKey(text string) (Secret, error) {
	text = strings.TrimSpace(text)
	if b, err := hex.DecodeString(text); err == nil && len(b) == KeySize {
		return Secret{b}, nil
	}
	plain := strings.TrimRight(text, "=")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := enc.DecodeString(plain); err == nil && len(b) == KeySize {
			return Secret{b}, nil
		}
	}
	return Secret{}, errKey
}

// readSecret reads a file that holds a secret and nothing else.
func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o007 != 0 {
		return "", fmt.Errorf("everybody on this machine may use %s (mode %04o)", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}
