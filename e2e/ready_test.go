//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"net/netip"
	"os"
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
// socket table: unlike a probe it leaves no trace at the program.
func listens(l *lab.Lab, p lab.Place, at netip.AddrPort, tcp bool) (bool, error) {
	table, state := "udp", "07"
	if tcp {
		table, state = "tcp", "0A"
	}
	if at.Addr().Is6() {
		table += "6"
	}
	var found bool
	err := l.Namespace(p).Do(func() error {
		f, err := os.Open("/proc/thread-self/net/" + table)
		if err != nil {
			return err
		}
		defer f.Close()
		want := procAddr(at)
		for s := bufio.NewScanner(f); s.Scan(); {
			field := strings.Fields(s.Text())
			if len(field) > 3 && field[3] == state && field[1] == want {
				found = true
			}
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
