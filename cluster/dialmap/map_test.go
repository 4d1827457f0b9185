package dialmap

import (
	"strings"
	"testing"
)

func TestVia(t *testing.T) {
	m, err := New([]Rule{
		{Address: "10.1.0.1:7000", Via: "127.0.0.1:9000"},
		{Address: "[2001:db8::1]:7000", Via: "relay.example:9001"},
		{Address: "ash-1.example:7000", Via: "127.0.0.1:9002"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ address, want string }{
		{"10.1.0.1:7000", "127.0.0.1:9000"},
		{"[::ffff:10.1.0.1]:7000", "127.0.0.1:9000"},
		{"10.1.0.1:7001", "10.1.0.1:7001"},
		{"[2001:db8:0::1]:7000", "relay.example:9001"},
		{"ash-1.example:7000", "127.0.0.1:9002"},
		{"no port", "no port"},
	} {
		if got := m.Via(c.address); got != c.want {
			t.Errorf("Via(%q) = %q, want %q", c.address, got, c.want)
		}
	}
	if got := (Map{}).Via("a:1"); got != "a:1" {
		t.Errorf("the zero map changed the address to %q", got)
	}
}

func TestNewReportsEveryFault(t *testing.T) {
	_, err := New([]Rule{
		{Address: "10.1.0.1", Via: "127.0.0.1:0"},
		{Address: "10.1.0.2:70", Via: "127.0.0.1:71"},
		{Address: "10.1.0.2:70", Via: ":71"},
	})
	if err == nil {
		t.Fatal("faulty rules were accepted")
	}
	for _, want := range []string{"dial_map[0].address", "dial_map[0].via", "dial_map[2].via", "mapped twice"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from %q", want, err)
		}
	}
}
