package geo

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-07: the remaining decision crosses, under the MAC, with what the plan says of it.
func TestDEC07_TokenDecision(t *testing.T) {
	tok := sample()
	tok.Decision = bytes.Repeat([]byte{0, ';', '=', 255}, MaxDecision/4)
	tok.Ring, tok.Causes, tok.MaxMembers = 45*time.Second, trunkgroup.Causes(404, 503), 2
	text := tok.Append(nil, testKey, callID, fromTag)
	got, err := ParseToken(text, testKey, callID, fromTag, tok.Target)
	if err != nil || !reflect.DeepEqual(got, tok) {
		t.Errorf("read back %+v, %v", got, err)
	}
	if _, err := ParseToken(bytes.Replace(text, []byte("routes.ring=45000"), []byte("routes.ring=46000"), 1), testKey, callID, fromTag, tok.Target); !errors.Is(err, ErrTokenMAC) {
		t.Errorf("a changed ring bound: %v", err)
	}
	if len(text) > 6500 {
		t.Errorf("the largest decision makes a token of %d octets", len(text))
	}
}

// Each field about the routes stands once, but for the causes, and is within its bounds.
func TestDEC07_TokenDecisionFaults(t *testing.T) {
	for name, values := range map[string][]string{
		"routes":         {"", "A", "A=", "AA==", "AAA\n", strings.Repeat("A", 4*MaxDecision)},
		"routes.ring":    {"-1", "x", "86400001"},
		"routes.members": {"1001", "9999999999"},
		"routes.causes":  {"199", "700", "0"},
	} {
		for _, value := range values {
			var tok Token
			if err := tok.setDecision(name, value); err == nil {
				t.Errorf("%s=%.20q is read", name, value)
			}
		}
	}
	for name, value := range map[string]string{"routes": "AAAA", "routes.ring": "1", "routes.members": "1", "routes.causes": "503"} {
		var tok Token
		if err := tok.set(name, value, new(int)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := tok.set(name, value, new(int)); err == nil {
			t.Errorf("%s stands twice", name)
		}
	}
}
