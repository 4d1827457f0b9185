package geo

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/internal/percent"
)

// macSize is how much of the HMAC-SHA256 is sent.
const macSize = 16

// macMark ends the text that the MAC covers.
const macMark = ";mac="

// maxToken bounds the text of a token; a longer one is refused before its MAC is computed.
const maxToken = 8192 + MaxDecision*4/3 + 512

// Append appends the token as the value of the header X-Tandem-Handoff, with a MAC under the key. The
// MAC covers every field and the Call-ID and From tag of the INVITE that carries it, so that it opens
// this one INVITE only (DEC-08). No wall clock is in it.
func (t *Token) Append(dst, key, sipCallID, fromTag []byte) []byte {
	start := len(dst)
	dst = appendField(dst, "v", "1")
	dst = appendField(dst, ";call", t.CallID)
	dst = appendField(dst, ";origin", t.Origin)
	dst = appendNumber(dst, ";boot", t.Boot)
	dst = appendField(dst, ";target", t.Target)
	dst = appendNumber(dst, ";hop", uint64(max(t.Hop, 0)))
	dst = appendField(dst, ";group", t.Group)
	dst = appendField(dst, ";cluster", t.Version.Cluster)
	dst = appendNumber(dst, ";gen", t.Version.Generation)
	dst = appendNumber(dst, ";rev", t.Version.Revision)
	dst = appendNumber(dst, ";ms", uint64(max(t.Budget, 0)/time.Millisecond))
	for _, m := range t.Tried {
		dst = appendField(dst, ";tried", m)
	}
	dst = appendField(dst, ";called", t.Called)
	dst = appendField(dst, ";dir", t.Direction)
	dst = t.Keys.append(dst)
	if t.Test {
		dst = append(dst, ";test=1"...)
	}
	dst = t.appendDecision(dst)
	mac := tokenMAC(key, dst[start:], sipCallID, fromTag)
	dst = append(dst, macMark...)
	return base64.RawURLEncoding.AppendEncode(dst, mac[:macSize])
}

// ParseToken checks and reads the value of the header. The MAC is compared in constant time before
// anything else is looked at. Self is the name of this node. Errors are the ErrToken values, wrapped
// where there is more to say.
func ParseToken(v, key, sipCallID, fromTag []byte, self string) (Token, error) {
	var t Token
	if len(key) == 0 {
		return t, ErrTokenKey
	}
	at := bytes.LastIndex(v, []byte(macMark))
	if at < 0 || len(v) > maxToken {
		return t, ErrTokenMAC
	}
	var mac [macSize + 2]byte // the decoder may not write beyond
	n, err := base64.RawURLEncoding.Strict().Decode(mac[:], clip(v[at+len(macMark):]))
	want := tokenMAC(key, v[:at], sipCallID, fromTag)
	if err != nil || n != macSize || !hmac.Equal(mac[:macSize], want[:macSize]) {
		return t, ErrTokenMAC
	}
	if err := t.read(string(v[:at])); err != nil {
		return Token{}, err
	}
	switch {
	case t.Target != self:
		return Token{}, fmt.Errorf("%w: %q", ErrTokenTarget, t.Target)
	case t.Hop > MaxHop:
		return Token{}, fmt.Errorf("%w: %d", ErrTokenHop, t.Hop)
	}
	return t, nil
}

// clip shortens an encoded MAC that is too long to one that is wrong.
func clip(b []byte) []byte {
	if limit := base64.RawURLEncoding.EncodedLen(macSize + 1); len(b) > limit {
		return b[:limit]
	}
	return b
}

// read fills the token from its text. A field of an unknown name is skipped: a newer node may say more.
func (t *Token) read(text string) error {
	seen := 0
	for field := range strings.SplitSeq(text, ";") {
		name, raw, ok := strings.Cut(field, "=")
		if !ok {
			return fmt.Errorf("%w: field %q", ErrTokenMalformed, field)
		}
		value, ok := percent.Text(raw)
		err := errField
		if ok {
			err = t.set(name, value, &seen)
		}
		if err != nil {
			return fmt.Errorf("%w: field %s: %w", ErrTokenMalformed, name, err)
		}
	}
	if seen != allFields {
		return fmt.Errorf("%w: a field is missing", ErrTokenMalformed)
	}
	return nil
}

// allFields has a bit for every field that must be there once.
const allFields = 1<<13 - 1

var errField = errors.New("unknown version, repeated field or bad value")

func (t *Token) set(name, value string, seen *int) (err error) {
	bit := 0
	var number uint64
	switch name {
	case "boot", "hop", "gen", "rev", "ms":
		if number, err = strconv.ParseUint(value, 10, 63); err != nil {
			return errField
		}
	}
	switch name {
	case "v":
		bit = 0
		if value != "1" {
			return errField
		}
	case "call":
		bit, t.CallID = 1, value
	case "origin":
		bit, t.Origin = 2, value
	case "boot":
		bit, t.Boot = 3, number
	case "target":
		bit, t.Target = 4, value
	case "hop":
		bit, t.Hop = 5, int(min(number, 1<<20))
	case "group":
		bit, t.Group = 6, value
	case "cluster":
		bit, t.Version.Cluster = 7, value
	case "gen":
		bit, t.Version.Generation = 8, number
	case "rev":
		bit, t.Version.Revision = 9, number
	case "ms":
		if number > uint64(maxBudget/time.Millisecond) {
			return errField
		}
		bit, t.Budget = 10, time.Duration(number)*time.Millisecond
	case "called":
		bit, t.Called = 11, value
	case "dir":
		bit, t.Direction = 12, value
	case "tried":
		t.Tried = append(t.Tried, value)
		return nil
	case "test":
		if value != "1" || t.Test {
			return errField
		}
		t.Test = true
		return nil
	case "routes", "routes.ring", "routes.causes", "routes.members":
		return t.setDecision(name, value)
	default:
		return t.Keys.set(name, value)
	}
	if *seen&(1<<bit) != 0 {
		return errField
	}
	*seen |= 1 << bit
	return nil
}

// maxBudget is the longest time that a token may give.
const maxBudget = 24 * time.Hour

// tokenMAC binds the text to the INVITE. Lengths go first, so that no two inputs run together.
func tokenMAC(key, text, sipCallID, fromTag []byte) [sha256.Size]byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("tandem hand-off token 1"))
	var n [4]byte
	for _, part := range [][]byte{sipCallID, fromTag, text} {
		binary.BigEndian.PutUint32(n[:], uint32(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, name...)
	dst = append(dst, '=')
	return percent.Append(dst, value)
}

func appendNumber(dst []byte, name string, n uint64) []byte {
	dst = append(dst, name...)
	dst = append(dst, '=')
	return strconv.AppendUint(dst, n, 10)
}
