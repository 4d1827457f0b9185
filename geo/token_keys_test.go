package geo

import (
	"bytes"
	"errors"
	"net/netip"
	"reflect"
	"testing"
)

// What distributions at the origin went by crosses, under the MAC; a node that does not
// know these fields skips them.
func TestDEC07_TokenKeys(t *testing.T) {
	tok := sample()
	tok.Keys = Keys{
		CallID: "a;b=c@x", From: "sip:bob@example.com", User: "acme", Caller: "+12145550100",
		Source: netip.MustParseAddr("2001:db8::1"),
	}
	tok.Test = true
	text := tok.Append(nil, testKey, callID, fromTag)
	got, err := ParseToken(text, testKey, callID, fromTag, tok.Target)
	if err != nil || !reflect.DeepEqual(got, tok) {
		t.Errorf("read back %+v, %v", got, err)
	}
	if _, err := ParseToken(bytes.Replace(text, []byte("acme;"), []byte("bcme;"), 1), testKey, callID, fromTag, tok.Target); !errors.Is(err, ErrTokenMAC) {
		t.Errorf("a changed key: %v", err)
	}
}

func TestTokenKeysStandOnce(t *testing.T) {
	for name, value := range map[string]string{"key.call": "x", "key.from": "x", "key.user": "x", "key.caller": "x", "key.source": "192.0.2.1"} {
		var k Keys
		if err := k.set(name, value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := k.set(name, value); err == nil {
			t.Errorf("%s stands twice", name)
		}
	}
	var k Keys
	if err := k.set("key.source", "nonsense"); err == nil {
		t.Error("nonsense is read as an address")
	}
	if err := k.set("something.new", "x"); err != nil {
		t.Errorf("what is unknown is skipped: %v", err)
	}
}
