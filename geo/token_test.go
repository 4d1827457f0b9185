package geo

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

var (
	testKey = []byte("0123456789abcdef0123456789abcdef")
	callID  = []byte("3848276298220188511@carrier.example")
	fromTag = []byte("9fxced76sl")
)

func sample() Token {
	return Token{
		CallID: "01J8Z3", Origin: "dal-1", Boot: 7, Target: "ash-2", Hop: 1, Group: "acme-in",
		Version: trunkgroup.Version{Cluster: "prod", Generation: 2, Revision: 41}, Budget: 9500 * time.Millisecond,
		Tried: []string{"acme-in/pbx-1", "acme-in/pbx-2"}, Called: "+12145550100", Direction: "inbound",
	}
}

func TestDEC08_TokenText(t *testing.T) {
	tok := sample()
	text := string(tok.Append([]byte("before "), testKey, callID, fromTag))
	want := "before v=1;call=01J8Z3;origin=dal-1;boot=7;target=ash-2;hop=1;group=acme-in;cluster=prod;gen=2;rev=41;ms=9500;" +
		"tried=acme-in/pbx-1;tried=acme-in/pbx-2;called=+12145550100;dir=inbound;mac="
	head, mac, _ := strings.Cut(text, macMark)
	if head+macMark != want {
		t.Errorf("got  %s\nwant %s", head+macMark, want)
	}
	if raw, err := base64.RawURLEncoding.DecodeString(mac); err != nil || len(raw) < 16 {
		t.Errorf("MAC %q: %d bytes, %v; want at least 16", mac, len(raw), err)
	}
	got, err := ParseToken([]byte(strings.TrimPrefix(text, "before ")), testKey, callID, fromTag, "ash-2")
	if err != nil || !reflect.DeepEqual(got, tok) {
		t.Errorf("read back %+v, %v", got, err)
	}
}

// DEC-08: "The MAC covers call id, Call-ID and From tag of this very INVITE, origin node and boot, target
// node, hop, customer group, remaining ms". A token with any of them changed is refused, whoever asks.
func TestDEC08_MACCovers(t *testing.T) {
	tok := sample()
	text := tok.Append(nil, testKey, callID, fromTag)
	for name, change := range map[string]func(*Token){
		"call id": func(t *Token) { t.CallID = "01J8Z4" }, "origin": func(t *Token) { t.Origin = "dal-2" },
		"boot": func(t *Token) { t.Boot++ }, "target": func(t *Token) { t.Target = "ash-1" },
		"hop": func(t *Token) { t.Hop = 0 }, "group": func(t *Token) { t.Group = "other" },
		"revision": func(t *Token) { t.Version.Revision++ }, "budget": func(t *Token) { t.Budget += time.Second },
		"tried": func(t *Token) { t.Tried = t.Tried[:1] }, "called": func(t *Token) { t.Called = "+1900" },
		"direction": func(t *Token) { t.Direction = "outbound" }, "test": func(t *Token) { t.Test = true },
	} {
		other := sample()
		change(&other)
		head, _, _ := strings.Cut(string(other.Append(nil, testKey, callID, fromTag)), macMark)
		_, mac, _ := strings.Cut(string(text), macMark)
		if _, err := ParseToken([]byte(head+macMark+mac), testKey, callID, fromTag, other.Target); !errors.Is(err, ErrTokenMAC) {
			t.Errorf("changed %s: %v, want %v", name, err, ErrTokenMAC)
		}
	}
	for name, err := range map[string]error{
		"another Call-ID":  second(ParseToken(text, testKey, []byte("x"+string(callID)), fromTag, "ash-2")),
		"another From tag": second(ParseToken(text, testKey, callID, []byte("other"), "ash-2")),
		"shifted boundary": second(ParseToken(text, testKey, append(callID[:len(callID):len(callID)], fromTag[0]), fromTag[1:], "ash-2")),
		"another key":      second(ParseToken(text, []byte("another key"), callID, fromTag, "ash-2")),
		"no MAC":           second(ParseToken(text[:len(text)-28], testKey, callID, fromTag, "ash-2")),
		"short MAC":        second(ParseToken(text[:len(text)-4], testKey, callID, fromTag, "ash-2")),
		"empty MAC":        second(ParseToken(text[:len(text)-22], testKey, callID, fromTag, "ash-2")),
		"long MAC":         second(ParseToken(append(bytes.Clone(text), "AAAA"...), testKey, callID, fromTag, "ash-2")),
		"very long MAC":    second(ParseToken(append(bytes.Clone(text), bytes.Repeat([]byte("A"), 99)...), testKey, callID, fromTag, "ash-2")),
		"added field":      second(ParseToken(append([]byte("x=1;"), text...), testKey, callID, fromTag, "ash-2")),
		"too long":         second(ParseToken(append(bytes.Repeat([]byte("x"), maxToken), text...), testKey, callID, fromTag, "ash-2")),
		"nothing":          second(ParseToken(nil, testKey, callID, fromTag, "ash-2")),
	} {
		if !errors.Is(err, ErrTokenMAC) {
			t.Errorf("%s: %v, want %v", name, err, ErrTokenMAC)
		}
	}
}

func second(_ Token, err error) error { return err }

// A node without a key accepts nothing, not even what was made without one.
func TestDEC08_NoKeyNoHandoff(t *testing.T) {
	tok := sample()
	text := tok.Append(nil, nil, callID, fromTag)
	if _, err := ParseToken(text, nil, callID, fromTag, "ash-2"); !errors.Is(err, ErrTokenKey) {
		t.Errorf("%v, want %v", err, ErrTokenKey)
	}
}

func TestDEC08_TokenForAnotherNode(t *testing.T) {
	tok := sample()
	text := tok.Append(nil, testKey, callID, fromTag)
	if _, err := ParseToken(text, testKey, callID, fromTag, "ash-1"); !errors.Is(err, ErrTokenTarget) {
		t.Errorf("%v, want %v", err, ErrTokenTarget)
	}
}

// P-15: a call that was handed over is never handed on or back.
func TestP15_LoopGuard(t *testing.T) {
	tok := sample()
	for hop, want := range map[int]error{0: nil, 1: nil, 2: ErrTokenHop, 1 << 40: ErrTokenHop} {
		tok.Hop = hop
		if _, err := ParseToken(tok.Append(nil, testKey, callID, fromTag), testKey, callID, fromTag, "ash-2"); !errors.Is(err, want) {
			t.Errorf("hop %d: %v, want %v", hop, err, want)
		}
	}
}

// sign puts a right MAC on any text.
func sign(text string) []byte {
	mac := tokenMAC(testKey, []byte(text), callID, fromTag)
	return base64.RawURLEncoding.AppendEncode([]byte(text+macMark), mac[:macSize])
}

// With a right MAC the text may still come from a node of another version: unknown fields are skipped,
// anything else is refused and never half read.
func TestDEC08_Malformed(t *testing.T) {
	tok := sample()
	good, _, _ := strings.Cut(string(tok.Append(nil, testKey, callID, fromTag)), macMark)
	if got, err := ParseToken(sign(good+";later=%41"), testKey, callID, fromTag, "ash-2"); err != nil || got.CallID != tok.CallID {
		t.Errorf("unknown field: %+v, %v", got, err)
	}
	for _, text := range []string{
		"", "v", strings.Replace(good, "v=1", "v=2", 1), strings.Replace(good, "v=1;", "", 1),
		strings.Replace(good, ";boot=7", "", 1), strings.Replace(good, "boot=7", "boot=-7", 1),
		strings.Replace(good, "hop=1", "hop=x", 1), good + ";hop=0", good + ";call=2",
		good + ";test=0", good + ";test=1;test=1",
		strings.Replace(good, "ms=9500", "ms=86400001", 1), strings.Replace(good, "01J8Z3", "%4", 1),
		strings.Replace(good, "01J8Z3", "%zz", 1), good + ";",
	} {
		got, err := ParseToken(sign(text), testKey, callID, fromTag, "ash-2")
		if !errors.Is(err, ErrTokenMalformed) || !reflect.DeepEqual(got, Token{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// The budget is whole milliseconds; what is spent is none.
func TestTokenBudget(t *testing.T) {
	for give, want := range map[time.Duration]time.Duration{
		1500 * time.Microsecond: time.Millisecond, -time.Second: 0, maxBudget: maxBudget,
	} {
		tok := sample()
		tok.Budget = give
		got, err := ParseToken(tok.Append(nil, testKey, callID, fromTag), testKey, callID, fromTag, "ash-2")
		if err != nil || got.Budget != want {
			t.Errorf("%v: %v, %v, want %v", give, got.Budget, err, want)
		}
	}
}

func TestTokenRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := func(name string) string { return rapid.String().Draw(t, name) }
		want := Token{
			CallID: word("call"), Origin: word("origin"), Boot: rapid.Uint64Max(1<<63-1).Draw(t, "boot"), Target: word("target"),
			Hop: rapid.IntRange(0, 1).Draw(t, "hop"), Group: word("group"),
			Version: trunkgroup.Version{Cluster: word("cluster"), Generation: 3, Revision: rapid.Uint64Max(1<<63-1).Draw(t, "rev")},
			Budget:  time.Duration(rapid.IntRange(0, 60_000).Draw(t, "ms")) * time.Millisecond,
			Called:  word("called"), Direction: word("dir"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "tried") {
			want.Tried = append(want.Tried, word("member"))
		}
		id, tag := rapid.SliceOf(rapid.Byte()).Draw(t, "id"), rapid.SliceOf(rapid.Byte()).Draw(t, "tag")
		text := want.Append(nil, testKey, id, tag)
		if bytes.ContainsAny(text, "\r\n\x00, \"<>") {
			t.Fatalf("%q does not belong in a header", text)
		}
		got, err := ParseToken(text, testKey, id, tag, want.Target)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
	})
}

// FuzzToken: bytes of strangers open nothing; and text that a node of ours has signed is refused or read
// in one way only.
func FuzzToken(f *testing.F) {
	tok := sample()
	f.Add(tok.Append(nil, testKey, callID, fromTag))
	head, _, _ := strings.Cut(string(tok.Append(nil, testKey, callID, fromTag)), macMark)
	f.Add([]byte(head))
	f.Add([]byte("v=1;call=%41;mac="))
	f.Fuzz(func(t *testing.T, v []byte) {
		stranger := sha256.Sum256(v)
		if _, err := ParseToken(v, stranger[:], callID, fromTag, "ash-2"); err == nil {
			t.Fatalf("%q is accepted under a key of its own", v)
		}
		if bytes.Contains(v, []byte(macMark)) {
			return
		}
		got, err := ParseToken(sign(string(v)), testKey, callID, fromTag, "ash-2")
		if err != nil {
			return
		}
		again, err := ParseToken(got.Append(nil, testKey, callID, fromTag), testKey, callID, fromTag, "ash-2")
		if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
			t.Fatalf("%+v read again: %+v, %v", got, again, err)
		}
	})
}

func BenchmarkToken(b *testing.B) {
	tok := sample()
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		buf = tok.Append(buf[:0], testKey, callID, fromTag)
		if _, err := ParseToken(buf, testKey, callID, fromTag, "ash-2"); err != nil {
			b.Fatal(err)
		}
	}
}
