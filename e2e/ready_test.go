//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
)

// ready waits until a program listens at the address inside a place.
func ready(t testing.TB, p lab.Place, at netip.AddrPort, tcp bool) {
	t.Helper()
	eventually(t, 20*time.Second, fmt.Sprintf("a listener at %v", at), func() error {
		found, err := listens(theLab(t), p, at, tcp)
		if err == nil && !found {
			err = fmt.Errorf("nobody listens")
		}
		return err
	})
}

// listens looks for a bound UDP or a listening TCP socket in the namespace's
// socket tables: unlike a probe it leaves no trace at the program. A socket
// bound to any address of its port counts.
func listens(l *lab.Lab, p lab.Place, at netip.AddrPort, tcp bool) (bool, error) {
	table, state := "udp", "07"
	if tcp {
		table, state = "tcp", "0A"
	}
	wanted := []string{
		procAddr(at),
		procAddr(netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())),
		procAddr(netip.AddrPortFrom(netip.IPv6Unspecified(), at.Port())),
	}
	var found bool
	err := l.Namespace(p).Do(func() error {
		for _, name := range []string{table, table + "6"} {
			f, err := os.Open("/proc/thread-self/net/" + name)
			if err != nil {
				return err
			}
			for s := bufio.NewScanner(f); s.Scan(); {
				field := strings.Fields(s.Text())
				found = found || len(field) > 3 && field[3] == state && slices.Contains(wanted, field[1])
			}
			f.Close()
		}
		return nil
	})
	return found, err
}

// procAddr writes an address as the kernel's socket tables do: 32-bit words in
// host byte order (little-endian here), in hexadecimal.
func procAddr(at netip.AddrPort) string {
	var b strings.Builder
	raw := at.Addr().AsSlice()
	for i := 0; i < len(raw); i += 4 {
		fmt.Fprintf(&b, "%02X%02X%02X%02X", raw[i+3], raw[i+2], raw[i+1], raw[i])
	}
	fmt.Fprintf(&b, ":%04X", at.Port())
	return b.String()
}
