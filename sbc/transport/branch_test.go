package transport

import (
	"bytes"
	"testing"
)

func TestBranchOf(t *testing.T) {
	for in, want := range map[string]string{
		string(request(7)):                       "z9hG4bK7",
		"Via: SIP/2.0/UDP h;branch=z9hG4bKa;r":   "z9hG4bKa",
		"Via: SIP/2.0/UDP h;branch=z9hG4bKa, b":  "z9hG4bKa",
		"Via: SIP/2.0/UDP h;branch=z9hG4bKcutof": "", // the ICMP message quoted no more
		"Via: SIP/2.0/UDP h;branch=;r":           "",
		"Via: SIP/2.0/UDP h":                     "",
		"":                                       "",
	} {
		if got := BranchOf([]byte(in)); string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzBranchOf: what an ICMP message quotes comes from outside, and may be anything.
func FuzzBranchOf(f *testing.F) {
	f.Add(request(1))
	f.Add([]byte("branch="))
	f.Fuzz(func(t *testing.T, data []byte) {
		if branch := BranchOf(data); len(branch) > len(data) || bytes.ContainsAny(branch, ";,\r\n ") {
			t.Fatalf("branch %q of %q", branch, data)
		}
	})
}
