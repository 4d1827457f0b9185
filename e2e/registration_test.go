//go:build e2e

package e2e

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

const registeredPassword = "registers-in-the-laboratory"

// registeredUsers are all users of groups that register, in the order of their numbers.
var registeredUsers = []string{
	"sipp-udp", "sipp-tcp", "kamailio-udp", "kamailio-tcp", "kamailio-tls",
	"baresip-udp", "baresip-tcp", "baresip-tls", "linphone-tls", "nat-udp", "nat-tcp", "nat-tls",
}

// domainOf is a user's domain and realm. SIPp, baresip and Kamailio know MD5 alone, and the
// first two give up at a challenge that begins with another algorithm: theirs is a realm that
// offers nothing else. linphonec takes the strongest.
func domainOf(user string) string {
	if strings.HasPrefix(user, "linphone") {
		return "sha.example.net"
	}
	return "md5.example.net"
}

// accountOf is what a user registers with at a node.
func accountOf(user string, n *tandem.Node) peer.Account {
	at := n.UDP()
	if strings.HasSuffix(user, "-tls") {
		at = n.TLS()
	}
	return peer.Account{User: user, Domain: domainOf(user), Password: registeredPassword, Registrar: at, Expires: 10 * time.Minute}
}

// registeredNumber is the number of one of them.
func registeredNumber(user string) string {
	for i, u := range registeredUsers {
		if u == user {
			return fmt.Sprintf("+121455506%02d", i)
		}
	}
	return ""
}

// registeredGroups is the part of the document about them.
func registeredGroups() string {
	var b strings.Builder
	for _, user := range registeredUsers {
		domain := domainOf(user)
		a1 := []byte(user + ":" + domain + ":" + registeredPassword)
		secret := fmt.Sprintf("ha1_md5: %x", md5.Sum(a1))
		if strings.HasPrefix(domain, "sha") {
			secret = fmt.Sprintf("ha1_sha256: %x", sha256.Sum256(a1))
		}
		fmt.Fprintf(&b, `
  - name: %s-in
    role: origination-customer
    numbers: [%q]
    timers: {b_timer: 2s}
    credentials: [{username: %s, realm: %s, %s}]
    members: [{id: pbx, registration: {aor: "sip:%s@%s", min_expires: 10s, nat_expires: 2m}}]
`, user, registeredNumber(user), user, domain, secret, user, domain)
	}
	return b.String()
}

// Hosts of those that register, in Dallas.
const (
	sippUDPHost = 12 + iota
	sippTCPHost
	trunkHost
	baresipHost // udp, tcp, tls: this one and the two behind it
	_
	_
	linphoneHost
	natHost // the public side of the NAT
)

// natPlace is behind the NAT.
const natPlace lab.Place = "nat-dallas"

var behindNAT = sync.OnceValue(func() error {
	l, err := network()
	if err != nil {
		return err
	}
	return l.BehindNAT(natPlace, lab.PBXDallas, natHost)
})

// sippRegistered starts SIPp with an account.
func sippRegistered(t testing.TB, p lab.Place, local netip.AddrPort, tcp bool, a peer.Account) {
	t.Helper()
	// It gives up at an unanswered refresh: none comes while a test runs.
	s, err := peer.StartRegistered(peer.Run{Lab: theLab(t), Place: p, Local: local, TCP: tcp}, a, 100*time.Second, answers())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
}

// phoneRegistered starts baresip with an account.
func phoneRegistered(t testing.TB, p lab.Place, host netip.Addr, transport string, a peer.Account) {
	t.Helper()
	authority, keys := certificate(t, "registers-"+a.User, host)
	s, err := peer.StartRegisteredBaresip(peer.Phone{
		Lab: theLab(t), Place: p, Local: netip.AddrPortFrom(host, 5061), Keys: keys, Authority: authority,
	}, transport, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
}

// trunkRegistered starts Kamailio with three accounts and a PBX behind it.
func trunkRegistered(t testing.TB, at *tandem.Node) {
	t.Helper()
	host := lab.Host4(lab.PBXDallas, trunkHost)
	authority, keys := certificate(t, "registers-kamailio", host)
	k := peer.Trunk{
		Lab: theLab(t), Place: lab.PBXDallas, Keys: keys, Authority: authority,
		Plain: netip.AddrPortFrom(host, 5060), TLS: netip.AddrPortFrom(host, 5061), Inside: netip.AddrPortFrom(host, 5080),
		Accounts: map[string]peer.Account{},
	}
	for _, transport := range []string{"udp", "tcp", "tls"} {
		k.Accounts[transport] = accountOf("kamailio-"+transport, at)
	}
	callee(t, peer.Run{Place: lab.PBXDallas, Local: k.Inside, Scenario: answers()})
	proc, err := peer.StartTrunk(k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proc.Stop)
}

// registerAll starts all of them at a node.
func registerAll(t testing.TB, at *tandem.Node) {
	t.Helper()
	if err := behindNAT(); err != nil {
		t.Fatal(err)
	}
	account := func(user string) peer.Account { return accountOf(user, at) }
	host := func(n int) netip.Addr { return lab.Host4(lab.PBXDallas, n) }
	sippRegistered(t, lab.PBXDallas, netip.AddrPortFrom(host(sippUDPHost), 5060), false, account("sipp-udp"))
	sippRegistered(t, lab.PBXDallas, netip.AddrPortFrom(host(sippTCPHost), 5060), true, account("sipp-tcp"))
	trunkRegistered(t, at)
	for i, transport := range []string{"udp", "tcp", "tls"} {
		phoneRegistered(t, lab.PBXDallas, host(baresipHost+i), transport, account("baresip-"+transport))
	}
	authority, err := authority()
	if err != nil {
		t.Fatal(err)
	}
	phone, err := peer.StartRegisteredLinphone(peer.Phone{
		Lab: theLab(t), Place: lab.PBXDallas, Local: netip.AddrPortFrom(host(linphoneHost), 5060), Authority: authority,
	}, account("linphone-tls"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(phone.Kill)
	if err := phone.Type("soundcard use files"); err != nil {
		t.Fatal(err)
	}
	sippRegistered(t, natPlace, netip.AddrPortFrom(lab.Behind4(10), 5060), false, account("nat-udp"))
	sippRegistered(t, natPlace, netip.AddrPortFrom(lab.Behind4(11), 5060), true, account("nat-tcp"))
	phoneRegistered(t, natPlace, lab.Behind4(12), "tls", account("nat-tls"))
}

// registration is one line of `tandem registration list`.
type registration struct {
	AOR       string `json:"aor"`
	Contact   string `json:"contact"`
	Transport string `json:"transport"`
	Reach     string `json:"reach"`
	Node      string `json:"node"`
	Reachable bool   `json:"reachable"`
	Cause     string `json:"cause"`
}

// registrationsOf asks a node for what is registered.
func registrationsOf(n *tandem.Node) (map[string][]registration, error) {
	out, err := n.Command("registration", "list", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Registrations []registration `json:"registrations"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("registrations of %s: %w: %s", n.Name, err, out)
	}
	by := map[string][]registration{}
	for _, r := range list.Registrations {
		user, _, _ := strings.Cut(strings.TrimPrefix(r.AOR, "sip:"), "@")
		by[user] = append(by[user], r)
	}
	return by, nil
}

// registeredAt waits until nodes know a binding of each user, and that it is
// reachable, or why not.
func registeredAt(t testing.TB, users []string, cause string, nodes ...*tandem.Node) {
	t.Helper()
	eventually(t, time.Minute, "registrations", func() error {
		for _, n := range nodes {
			by, err := registrationsOf(n)
			if err != nil {
				return err
			}
			for _, user := range users {
				if !slices.ContainsFunc(by[user], func(r registration) bool { return r.Cause == cause && r.Reachable == (cause == "") }) {
					return fmt.Errorf("%s knows of %s, for %q: %+v", n.Name, user, cause, by[user])
				}
			}
		}
		return nil
	})
}

// TestR01_RegisteredFarEndsAreCalledFromEverywhere: far ends of four makes
// register at one node over UDP, TCP and TLS, some behind a NAT, and are called
// through it, through another node of its site and through the other site.
func TestR01_RegisteredFarEndsAreCalledFromEverywhere(t *testing.T) {
	w := theWorld(t)
	registerAll(t, w.Node(lab.Dallas1))
	registeredAt(t, registeredUsers, "", w.SBCs()...)
	for _, n := range []*tandem.Node{w.Node(lab.Dallas1), w.Node(lab.Dallas2), w.Node(lab.Ashburn1)} {
		t.Run(n.Name, func(t *testing.T) {
			for _, user := range registeredUsers {
				t.Run(user, func(t *testing.T) {
					t.Parallel()
					sent := pstnCall(t, n, registeredNumber(user), peer.Complete(100*time.Millisecond))
					r := recordOf(t, n, callID(t, sent))
					if r.EgressGroup != user+"-in" || r.EgressMember != "pbx" || r.SIPCode != 200 || r.HandedOff != (n.Site == lab.Ashburn) {
						t.Errorf("record %+v", r)
					}
				})
			}
		})
	}
}

// TestFailureMode13_NodeWhereAPhoneIsRegistered: the node that took registrations
// is killed, then its whole site. What is reached by UDP without a NAT is called
// all the same, what its node alone can reach gets 480 until that is back, and
// what was connected to it once it has registered again (DEC-15).
func TestFailureMode13_NodeWhereAPhoneIsRegistered(t *testing.T) {
	w := theWorld(t)
	if err := behindNAT(); err != nil {
		t.Fatal(err)
	}
	victim := w.follower(t, lab.Dallas2, lab.Dallas1)
	sibling, far := w.Node(lab.Dallas1), w.Node(lab.Ashburn1)
	if sibling == victim {
		sibling = w.Node(lab.Dallas2)
	}
	t.Cleanup(func() {
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		w.settled(t)
	})
	const plain, nat, stream = "sipp-udp", "nat-udp", "baresip-tcp"
	sippRegistered(t, lab.PBXDallas, netip.AddrPortFrom(lab.Host4(lab.PBXDallas, sippUDPHost), 5060), false, accountOf(plain, victim))
	sippRegistered(t, natPlace, netip.AddrPortFrom(lab.Behind4(10), 5060), false, accountOf(nat, victim))
	account := accountOf(stream, victim)
	account.Expires = 12 * time.Second
	phoneRegistered(t, lab.PBXDallas, lab.Host4(lab.PBXDallas, baresipHost+1), "tcp", account)
	registeredAt(t, []string{plain, nat, stream}, "", w.SBCs()...)
	called := func(user string, code int, nodes ...*tandem.Node) {
		t.Helper()
		for _, n := range nodes {
			s := peer.Complete(0)
			if code != 200 {
				s = peer.Fails(code)
			}
			sent := pstnCall(t, n, registeredNumber(user), s)
			if r := recordOf(t, n, callID(t, sent)); r.SIPCode != code {
				t.Errorf("%s at %s: record %+v", user, n.Name, r)
			}
		}
	}
	up := startCall(t, fromPSTN(sibling, registeredNumber(nat), peer.Complete(4*time.Second)))
	eventually(t, 10*time.Second, "the call to be up", func() error {
		if list := messages(t, up); !slices.ContainsFunc(list, func(m peer.Message) bool { return m.Sent && m.Method() == "ACK" }) {
			return fmt.Errorf("no ACK among %d messages", len(list))
		}
		return nil
	})

	begin := time.Now()
	victim.Kill()
	registeredAt(t, []string{nat, stream}, "node_down", sibling, far)
	t.Logf("known to be out of reach after %v", time.Since(begin).Round(time.Millisecond))
	called(plain, 200, sibling, far)
	called(nat, 480, sibling, far)
	called(stream, 480, sibling, far)
	if r := recordOf(t, sibling, callID(t, finish(t, up))); r.SIPCode != 200 || r.Billed == 0 {
		t.Errorf("the call through the node: record %+v", r)
	}

	begin = time.Now()
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	w.settled(t)
	registeredAt(t, []string{plain, nat}, "", w.SBCs()...)
	called(nat, 200, sibling, far, victim)
	registeredAt(t, []string{stream}, "", w.SBCs()...)
	t.Logf("all in reach %v after the start", time.Since(begin).Round(time.Millisecond))
	called(stream, 200, sibling, far, victim)

	victim.Kill()
	sibling.Kill()
	registeredAt(t, []string{nat, stream}, "node_down", far)
	registeredAt(t, []string{plain}, "", far)
	called(plain, 200, far, w.Node(lab.Ashburn2))
	called(nat, 480, far)
	called(stream, 480, far)
}

// TestR27_CallerBehindANatHearsTheEnd: a digest user behind a NAT calls out; the
// carrier changes nothing and hangs up, and its BYE gets through the NAT though the
// caller's Contact is an address that nobody can reach.
func TestR27_CallerBehindANatHearsTheEnd(t *testing.T) {
	w := theWorld(t)
	if err := behindNAT(); err != nil {
		t.Fatal(err)
	}
	w.play(t, peer.Callee("hangs-up", peer.Accept(), peer.Wait(200*time.Millisecond), peer.HangUp()), "carrier-a/dal")
	n := w.Node(lab.Dallas1)
	sent := call(t, peer.Run{
		Place: natPlace, Local: netip.AddrPortFrom(lab.Behind4(13), 0), Remote: n.UDP(), Number: pstnNumber,
		Scenario: peer.Caller("hears-bye", peer.InviteDigest(digestUser, digestPassword), peer.Answered(2), peer.TakeBye()),
	})
	if r := recordOf(t, n, callID(t, sent)); r.AuthUser != digestUser || r.SIPCode != 200 {
		t.Errorf("record: %+v", r)
	}
}
