//go:build e2e

package e2e

import (
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// Hosts of the scanners, outside. A ban outlives a test, so that each has its own.
const (
	mapHost   = 10 + iota // and the one behind it
	_                     //
	warHost               // and the five behind it
	crackHost = warHost + 6
)

// scannedUsers are real users among the thousand that are tried.
var scannedUsers = []string{"1005", "1010", "1500", "1999"}

// scannedDocument is the shared document with users that scanners look for.
func scannedDocument() []byte {
	var users []string
	for _, u := range scannedUsers {
		users = append(users, fmt.Sprintf("{username: %q, realm: %s, ha1_md5: %x}", u, tandem.Realm, md5.Sum([]byte(u+":"+tandem.Realm+":4711"))))
	}
	group := fmt.Sprintf(`trunk_groups:
  - name: scanned
    role: origination-customer
    numbers: ["+12145550660"]
    credentials: [%s]
    members:
      - {id: pbx, registration: {aor: "sip:1005@%s", users: ["1005"]}}
`, strings.Join(users, ", "), tandem.Realm)
	return []byte(strings.Replace(fill(document), "trunk_groups:\n", group, 1))
}

// scan runs a scanner from a host outside and returns what it says. What it exits with says nothing.
func scan(t testing.TB, host int, agent, tool string, args ...string) string {
	t.Helper()
	from := lab.Host4(lab.Outside, host).String()
	line := append([]string{"60", "/usr/bin/python3", "testdata/scanner.py", agent, tool, "-b", from, "-x", from}, args...)
	out, err := theLab(t).Namespace(lab.Outside).Command("timeout", line...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

// scanned is the shared world with the document that scanners are let loose on.
func scanned(t testing.TB) *world {
	t.Helper()
	w := theWorld(t)
	old, err := revisionOf(w.Nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.restoreDocument(t) })
	if err := apply(w.Nodes[0], scannedDocument()); err != nil {
		t.Fatal(err)
	}
	w.equalTables(t, old)
	return w
}

// TestScanners lets SIPVicious loose on the cluster.
func TestScanners(t *testing.T) {
	w := scanned(t)
	n := w.Node(lab.Dallas1)
	at := n.UDP().Addr().String()
	t.Run("svmap", func(t *testing.T) {
		if out := scan(t, mapHost, "-", "svmap", at); !strings.Contains(out, "found nothing") {
			t.Errorf("it finds a node that knows it:\n%s", out)
		}
		out := scan(t, mapHost+1, "Phone", "svmap", "--fromname", "phone", at)
		if !strings.Contains(out, at) || strings.Contains(strings.ToLower(out), "tandem") {
			t.Errorf("it finds no node, or a product:\n%s", out)
		}
	})
	t.Run("svwar", func(t *testing.T) {
		host := warHost
		for _, method := range []string{"REGISTER", "INVITE", "OPTIONS"} {
			for _, force := range []string{"", "--force"} {
				at, from := n.UDP().Addr().String(), host
				host++
				t.Run(method+force, func(t *testing.T) {
					t.Parallel()
					args := []string{"-e", "1000-1999", "-m", method, "-t", "0.01", at}
					if force != "" {
						args = append([]string{force}, args...)
					}
					out := scan(t, from, "Phone", "svwar", args...)
					for _, u := range scannedUsers {
						if strings.Contains(out, u) {
							t.Errorf("it finds user %s:\n%s", u, out)
						}
					}
					if !strings.Contains(out, "found nothing") && !strings.Contains(out, "Set --force") {
						t.Errorf("it says\n%s", out)
					}
				})
			}
		}
	})
	t.Run("svcrack", func(t *testing.T) { cracked(t, w, n) })
}

// cracked lets svcrack try ten thousand passwords: it is banned, in both sites, after ten, and nobody else notices.
func cracked(t *testing.T, w *world, n *tandem.Node) {
	cracker := netip.PrefixFrom(lab.Host4(lab.Outside, crackHost), 32)
	t.Cleanup(func() { _, _ = n.Command("ban", "remove", cracker.String()) })
	before := metricsOf(t, n)
	out := scan(t, crackHost, "Phone", "svcrack", "--maximumtime=2", "-u", "1005", "-r", "1-9999", "-z", "4", n.UDP().Addr().String())
	if cracked := regexp.MustCompile(`\b4711\b`); cracked.MatchString(out) { // the digits of a time are no password
		t.Errorf("it finds the password:\n%s", out)
	}
	for _, p := range []lab.Place{lab.Dallas1, lab.Dallas2, lab.Ashburn1, lab.Ashburn2} {
		eventually(t, 5*time.Second, "the ban is known", func() error { return banned(w.Node(p), cracker, "digest: 10 in 1m0s", n.Name) })
	}
	after := metricsOf(t, n)
	rise := func(name string, labels ...string) float64 {
		return after.Sum(name, labels...) - before.Sum(name, labels...)
	}
	if tried := rise("tandem_auth_failures_total"); tried < 10 || tried > 20 {
		t.Errorf("%v passwords were tried, want ten and what was on its way", tried)
	}
	if rise("tandem_doors_dropped_messages_total", "cause=ban") == 0 || rise("tandem_bans_made_total", "reason=digest") != 1 {
		t.Error("what came after the ban was not dropped")
	}
	sent := call(t, fromOutside(t, n, peer.Caller("digest", peer.InviteDigest(digestUser, digestPassword), peer.Answered(2), peer.Bye(3))))
	if r := recordOf(t, n, callID(t, sent)); r.SIPCode != 200 {
		t.Errorf("a good user's call: %+v", r)
	}
	sippRegistered(t, lab.PBXDallas, netip.AddrPortFrom(lab.Host4(lab.PBXDallas, sippUDPHost), 5060), false, accountOf("sipp-udp", n))
	if out, err := w.Node(lab.Ashburn1).Command("ban", "remove", cracker.String()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	eventually(t, 5*time.Second, "the ban is lifted", func() error {
		switch err := banned(n, cracker, "", ""); {
		case err == nil:
			return errNotYet
		case !errors.Is(err, errNoBan):
			return err
		}
		return nil
	})
}

var errNoBan = errors.New("no such ban")

// banned looks for a ban at a node; without one the error is errNoBan.
func banned(n *tandem.Node, p netip.Prefix, reason, node string) error {
	out, err := n.Command("ban", "list", "-o", "json")
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var list struct {
		Bans []struct{ Prefix, Reason, Node, By string }
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return err
	}
	for _, b := range list.Bans {
		if b.Prefix == p.String() && (reason == "" || b.Reason == reason && b.Node == node && b.By == "auto") {
			return nil
		}
	}
	return fmt.Errorf("%w at %s: of %s for %q by %s: %s", errNoBan, n.Name, p, reason, node, out)
}
