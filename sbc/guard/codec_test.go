package guard

import (
	"net/netip"
	"strings"
	"testing"
)

func TestBanRoundTrip(t *testing.T) {
	for _, b := range []Ban{
		{Prefix: netip.MustParsePrefix("192.0.2.1/32"), Auto: true, Level: 3, By: "auto", Node: "dal-1", Reason: "digest: 10 in 1m0s"},
		{Prefix: netip.MustParsePrefix("2001:db8::/48"), By: "alice", Node: "ash-2", Reason: "Zürich keeps ringing"},
	} {
		got, err := ParseBan(b.Prefix.String(), b.AppendValue(nil))
		if err != nil || got != b {
			t.Errorf("%+v, %v, want %+v", got, err, b)
		}
	}
	long := Ban{Prefix: netip.MustParsePrefix("192.0.2.1/32"), Level: 1000, Reason: strings.Repeat("x", 1000), By: "a\x1b[2Jb"}
	if got, err := ParseBan("192.0.2.1/32", long.AppendValue(nil)); err != nil || got.Level != 255 || len(got.Reason) != 255 || got.By != "a?[2Jb" {
		t.Errorf("%+v, %v", got, err)
	}
	later := append((&Ban{Prefix: long.Prefix, By: "a"}).AppendValue(nil), "a field of a later version"...)
	later[0] = banVersion + 1
	if got, err := ParseBan("192.0.2.1/32", later); err != nil || got.By != "a" {
		t.Errorf("a later version: %+v, %v", got, err)
	}
	for _, key := range []string{"", "192.0.2.1", "192.0.2.1/24", "0.0.0.0/0", "::/0", "x/32"} {
		if _, err := ParseBan(key, later); err == nil {
			t.Errorf("%q is a prefix", key)
		}
	}
}

// FuzzParseBan: no bytes panic, and what is read is written and read alike.
func FuzzParseBan(f *testing.F) {
	f.Add("192.0.2.1/32", (&Ban{Auto: true, By: "auto", Node: "dal-1", Reason: "scanner"}).AppendValue(nil))
	f.Add("2001:db8::/64", []byte{1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		b, err := ParseBan(key, value)
		if err != nil {
			return
		}
		again, err := ParseBan(b.Prefix.String(), b.AppendValue(nil))
		if err != nil || again.Prefix != b.Prefix || again.Auto != b.Auto || again.Level != b.Level {
			t.Fatalf("%+v, %v, want %+v", again, err, b)
		}
	})
}
