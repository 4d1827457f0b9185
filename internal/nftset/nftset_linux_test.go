package nftset

import (
	"errors"
	"net/netip"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ownNamespace moves the test into a network namespace of its own, which ends with its
// thread.
func ownNamespace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("nft"); err != nil {
		t.Skip("nft is not installed")
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the test's goroutine
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace of our own: %v", err)
	}
}

func nft(t *testing.T, script string) string {
	t.Helper()
	c := exec.Command("nft", "-f", "-")
	c.Stdin = strings.NewReader(script)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("nft: %v\n%s", err, out)
	}
	return string(out)
}

const rules = `table inet tandem {
	set banned4 { type ipv4_addr; flags interval, timeout; }
	set banned6 { type ipv6_addr; flags interval, timeout; }
	set plain { type ipv4_addr; }
}
`

func TestSets(t *testing.T) {
	ownNamespace(t)
	s := New("tandem", "banned4", "banned6")
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "create both first") {
		t.Errorf("without a table: %v", err)
	}
	nft(t, rules)
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if err := New("tandem", "plain", "").Check(); err == nil || !strings.Contains(err.Error(), "flags interval, timeout") {
		t.Errorf("a set without timeouts: %v", err)
	}
	all := []netip.Prefix{
		netip.MustParsePrefix("198.51.100.7/32"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("255.255.255.255/32"),
		netip.MustParsePrefix("2001:db8:1::/64"),
	}
	for range 2 { // the second time gives them a new time
		for _, p := range all {
			if err := s.Add(p, time.Hour); err != nil {
				t.Errorf("add %s: %v", p, err)
			}
		}
	}
	text := nft(t, "list ruleset")
	for _, want := range []string{"198.51.100.7 timeout 1h", "203.0.113.0/24 timeout 1h", "255.255.255.255 timeout 1h", "2001:db8:1::/64 timeout 1h"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	have, err := s.Has(append(all, netip.MustParsePrefix("192.0.2.1/32")))
	if err != nil || len(have) != 5 || !have[all[0]] || !have[all[3]] || have[netip.MustParsePrefix("192.0.2.1/32")] {
		t.Errorf("Has = %v, %v", have, err)
	}
	if err := s.Add(netip.MustParsePrefix("203.0.113.9/32"), time.Hour); !errors.Is(err, ErrOverlap) {
		t.Errorf("a network inside another one: %v", err)
	}
	for range 2 { // the second time there is nothing to remove
		for _, p := range all {
			if err := s.Remove(p); err != nil {
				t.Errorf("remove %s: %v", p, err)
			}
		}
	}
	if text := nft(t, "list ruleset"); strings.Contains(text, "elements") {
		t.Errorf("something is left:\n%s", text)
	}
}
