package trunkgroup

import (
	"bytes"
	"testing"
)

func TestParseKey(t *testing.T) {
	for _, name := range KeyNames() {
		k, header, err := ParseKey(name)
		if err != nil || k == KeyNone || (k == KeyHeader) != (header == "NAME") {
			t.Errorf("%s: %d %q %v", name, k, header, err)
		}
		if k != KeyHeader && k.String() != name {
			t.Errorf("%s is written back as %s", name, k)
		}
	}
	for _, bad := range []string{"", "header", "header:", "header:X Y", "callid", "Call-ID"} {
		if _, _, err := ParseKey(bad); err == nil {
			t.Errorf("%q is read as a key", bad)
		}
	}
	if Key(99).String() != "" {
		t.Error("there is no key 99")
	}
}

// K-21: user, host, and the port when it is not the usual one; with flag 1 the user alone.
func TestK21_PartsOfURI(t *testing.T) {
	for uri, want := range map[string][2]string{
		"sip:bob@example.com":                       {"bob", "example.com"},
		"sip:bob:secret@example.com:5060;lr?x=y":    {"bob", "example.com"},
		"sip:bob@example.com:5080;transport=tcp":    {"bob", "example.com:5080"},
		"sips:bob@example.com:5061":                 {"bob", "example.com"},
		"sips:bob@example.com:5060":                 {"bob", "example.com:5060"},
		"sip:+12145550100;npdi=yes@example.com":     {"+12145550100;npdi=yes", "example.com"},
		"sip:example.com":                           {"", "example.com"},
		"sip:bob@[2001:db8::1]:5070":                {"bob", "[2001:db8::1]:5070"},
		"tel:+12145550100;phone-context=example.io": {"+12145550100", ""},
		"": {"", ""},
	} {
		user, host := splitURI([]byte(uri))
		if string(user) != want[0] || string(host) != want[1] {
			t.Errorf("%s: %q %q, want %q", uri, user, host, want)
		}
	}
}

type oneHeader struct{ name, value string }

func (h oneHeader) HeaderValue(name string) []byte {
	if name == h.name {
		return []byte(h.value)
	}
	return nil
}

// Each key hashes what it names and nothing else; without it there is none.
func TestKeys(t *testing.T) {
	one, other := traitsOf(1), traitsOf(2)
	one.Headers, other.Headers = oneHeader{"X-Room", "7"}, oneHeader{"X-Room", "8"}
	other.To, other.Source = []byte("sip:+12145550101@sbc.example.com"), addrPort("203.0.113.2:1").Addr()
	for k := KeyCallID; k <= KeyHeader; k++ {
		g := &Group{Key: k, KeyHeader: "X-Room"}
		a, ok := g.KeyHash(one)
		again, _ := g.KeyHash(traitsWith(1, oneHeader{"X-Room", " 7 "}))
		b, _ := g.KeyHash(other)
		if !ok || a != again || a == b {
			t.Errorf("%s: %x %x %x %t", k, a, again, b, ok)
		}
		if _, ok := g.KeyHash(&Traits{}); ok {
			t.Errorf("%s: a call without it has a key", k)
		}
		if _, ok := g.KeyHash(nil); ok {
			t.Errorf("%s: no call has a key", k)
		}
		ka, ok := g.KamailioKey(one)
		kb, _ := g.KamailioKey(other)
		if _, none := g.KamailioKey(&Traits{}); !ok || none || ka == kb || ka == 0 {
			t.Errorf("%s for Kamailio: %x %x %t", k, ka, kb, ok)
		}
	}
}

func traitsWith(i uint64, h HeaderSource) *Traits {
	x := traitsOf(i)
	x.Headers = h
	return x
}

// A host says the same in any case, a user does not; user_only leaves the host out.
func TestK21_UserOnly(t *testing.T) {
	g := &Group{Key: KeyFrom}
	hash := func(uri string) uint64 { h, _ := g.KeyHash(&Traits{From: []byte(uri)}); return h }
	if hash("sip:bob@Example.COM") != hash("sip:bob@example.com") || hash("sip:Bob@example.com") == hash("sip:bob@example.com") {
		t.Error("hosts have no case, users do")
	}
	if hash("sip:bob@example.com") == hash("sip:bob@example.org") {
		t.Error("the host counts")
	}
	g.UserOnly = true
	if hash("sip:bob@example.com") != hash("sip:bob@example.org") || hash("sip:bob@x") == hash("sip:al@x") {
		t.Error("the user alone counts")
	}
}

// C-02: the hash of Kamailio's dispatcher, against its own answers. The first are what
// the dispatcher of version 5.6 takes for these texts, worked out octet by octet.
func TestC02_KamailioHash(t *testing.T) {
	reference := func(x, y []byte) uint32 {
		h := uint32(0)
		for _, text := range [][]byte{x, y} {
			for i := 0; i <= len(text); i += 4 {
				v := uint32(0)
				for _, c := range text[i:min(i+4, len(text))] {
					v = v*256 + uint32(int32(int8(c)))
				}
				h += v ^ v/8
			}
		}
		h = h + h/2048 + h/8192 + h/8388608
		if h == 0 {
			return 1
		}
		return h
	}
	for _, c := range []struct {
		x, y string
		want uint32
	}{{"", "", 1}, {"a", "", 109}, {"abcd", "", 1834959896}, {"bob", "example.com", 0}, {"\xff\xfe", "", 0}} {
		got := KamailioHash([]byte(c.x), []byte(c.y))
		if c.want != 0 && got != c.want || got != reference([]byte(c.x), []byte(c.y)) {
			t.Errorf("%q %q: %d, want %d, by the book %d", c.x, c.y, got, c.want, reference([]byte(c.x), []byte(c.y)))
		}
	}
	for n := range 64 {
		x := bytes.Repeat([]byte("k\xe4y"), n)
		if got, want := KamailioHash(x, x[n:]), reference(x, x[n:]); got != want {
			t.Errorf("%d octets: %d, want %d", len(x), got, want)
		}
	}
}

// Anonymous callers have nothing in common: their calls take turns and do not all go to
// one member. Kamailio knows no such thing.
func TestK04_AnonymousCallersTakeTurns(t *testing.T) {
	for _, uri := range []string{"sip:anonymous@anonymous.invalid", "sip:Anonymous@sbc.example.com", "sip:x@Anonymous.Invalid"} {
		for _, only := range []bool{false, true} {
			x := &Traits{From: []byte(uri), To: []byte(uri)}
			if _, ok := (&Group{Key: KeyFrom, UserOnly: only}).KeyHash(x); ok {
				t.Errorf("%s has a key", uri)
			}
			if _, ok := (&Group{Key: KeyTo, UserOnly: only}).KeyHash(x); !ok {
				t.Errorf("a call to %s has none", uri)
			}
			if _, ok := (&Group{Key: KeyFrom, UserOnly: only}).KamailioKey(x); !ok {
				t.Errorf("%s has no key for Kamailio", uri)
			}
		}
	}
}
