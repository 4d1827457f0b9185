package guard

import (
	"strings"
	"testing"
)

const message = "OPTIONS sip:100@192.0.2.1 SIP/2.0\r\nVia: SIP/2.0/UDP 198.51.100.1;branch=z9hG4bK1\r\n" +
	"From: \"%F\" <sip:100@1.1.1.1>;tag=1\r\nUser-Agent: %U\r\nContent-Length: 12\r\n\r\nUser-Agent: friendly-scanner\r\n"

func text(from, agent string) string {
	return strings.NewReplacer("%F", from, "%U", agent).Replace(message)
}

func TestSignatures(t *testing.T) {
	s := newSignatures(DefaultSignatures())
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"sipvicious as it comes", text("sipvicious", "friendly-scanner"), true},
		{"its agent", text("x", "friendly-scanner"), true},
		{"its name", text("sipvicious", "Phone"), true},
		{"capitals", text("x", "Friendly-SCANNER"), true},
		{"with a version", text("x", "sipcli/v1.8"), true},
		{"inside", text("x", "the sundayddr thing"), true},
		{"blank before the colon, tab after", strings.Replace(text("x", "sundayddr"), "User-Agent: ", "USER-AGENT \t:\t", 1), true},
		{"compact From", strings.Replace(text("sipvicious", "Phone"), "From:", "f:", 1), true},
		{"bare line feeds", strings.ReplaceAll(text("x", "pplsip"), "\r\n", "\n"), true},
		{"no end of line", "User-Agent: pplsip", true},
		{"a phone", text("Alice", "Linphone/5.1"), false},
		{"a word that holds one", text("x", "SIPClient 2.0"), false},
		{"a word that ends like one", text("x", "mysipcli"), false},
		{"the body", text("x", "Phone"), false},
		{"a response", "SIP/2.0 200 OK\r\nServer: x\r\n\r\n", false},
		{"an answer to a caller who calls himself so", "SIP/2.0 180 Ringing\r\nFrom: \"sipvicious\" <sip:a@b>;tag=1\r\n\r\n", false},
		{"a person", text("Iwar Berg", "Phone"), false},
		{"a friend", text("my friendly-scanner", "Phone"), false},
		{"without quotes", strings.Replace(text("sipvicious", "Phone"), `"sipvicious"`, "SIPVicious", 1), true},
		{"nothing", "", false},
		{"line feeds", "\n\n\n", false},
		{"far into a message", strings.Repeat("X: y\r\n", 2000) + "User-Agent: pplsip\r\n", false},
	} {
		if got := s.match([]byte(c.text), true); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if newSignatures([]string{"", " "}).match([]byte(text("", "")), true) {
		t.Error("an empty word is found everywhere")
	}
}

// FuzzSignatures: no bytes panic, and none are changed.
func FuzzSignatures(f *testing.F) {
	f.Add([]byte(text("sipvicious", "friendly-scanner")))
	f.Add([]byte("u:\nf\nUser-Agent\n:"))
	s := newSignatures(DefaultSignatures())
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := string(raw)
		s.match(raw, true)
		if string(raw) != before {
			t.Fatal("the message was changed")
		}
	})
}
