package geo

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxMembers bounds how many far ends of a route a token may ask for.
const maxMembers = 1000

// appendDecision appends the routes that go with the call. They come with all that their plan
// says, for the plan of the node that takes it may be another one by then.
func (t *Token) appendDecision(dst []byte) []byte {
	if len(t.Decision) == 0 {
		return dst
	}
	dst = append(dst, ";routes="...)
	dst = base64.RawURLEncoding.AppendEncode(dst, t.Decision)
	dst = appendNumber(dst, ";routes.ring", uint64(max(t.Ring, 0)/time.Millisecond))
	dst = appendNumber(dst, ";routes.members", uint64(max(t.MaxMembers, 0)))
	for _, code := range t.Causes.Codes() {
		dst = appendNumber(dst, ";routes.causes", uint64(code))
	}
	return dst
}

// setDecision takes a field that is about the routes. Each may stand once, the causes as often
// as there are some.
func (t *Token) setDecision(name, value string) error {
	if name == "routes" {
		b, err := base64.RawURLEncoding.Strict().DecodeString(value)
		if err != nil || len(b) == 0 || len(b) > MaxDecision || len(t.Decision) > 0 || strings.ContainsAny(value, "\r\n") {
			return errField
		}
		t.Decision = b
		return nil
	}
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return errField
	}
	switch name {
	case "routes.ring":
		if t.Ring != 0 || time.Duration(n)*time.Millisecond > maxBudget {
			return errField
		}
		t.Ring = time.Duration(n) * time.Millisecond
	case "routes.members":
		if t.MaxMembers != 0 || n > maxMembers {
			return errField
		}
		t.MaxMembers = int(n)
	default:
		more := trunkgroup.Causes(int(n))
		if more.Empty() || t.Causes.Has(int(n)) {
			return errField
		}
		t.Causes = trunkgroup.Causes(append(t.Causes.Codes(), int(n))...)
	}
	return nil
}
