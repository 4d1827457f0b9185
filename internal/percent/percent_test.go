package percent

import (
	"strings"
	"testing"
)

func TestPercent(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", ""}, {"acme-in/pbx_1", "acme-in/pbx_1"}, {"+1214@[::1]:5060", "+1214@%5B::1%5D:5060"}, {"a;b,c=%\r\n", "a%3Bb%2Cc%3D%25%0D%0A"}, {"\x00ÿ", "%00%C3%BF"},
	} {
		if got := string(Append(nil, x.text)); got != x.want {
			t.Errorf("%q is written %q, want %q", x.text, got, x.want)
		}
	}
	for _, bad := range []string{"%", "%4", "a%4", "%zz", "%+1", "%-1", "%0x", "%4%41"} {
		if got, ok := Text(bad); ok {
			t.Errorf("%q is read as %q", bad, got)
		}
	}
}

// FuzzPercent: what is written is read back, and holds nothing that ends a field.
func FuzzPercent(f *testing.F) {
	f.Add("a;b,c %41\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		written := string(Append(nil, s))
		if strings.ContainsAny(written, ";,= \t\r\n\x00") {
			t.Fatalf("%q is written %q", s, written)
		}
		if got, ok := Text(written); !ok || got != s {
			t.Fatalf("%q comes back as %q, %v", s, got, ok)
		}
		_, _ = Text(s)
	})
}
