//go:build e2e

package e2e

import (
	"crypto/md5"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// Hosts and names of the carrier that wants a login. Its registrar stands beside its
// gateway, is known by name, and is none of the group's sources: calls are known by our
// contact there.
const (
	loginHost, loginPSTN, loginCaller, loginRegistrar = 14, 16, 17, 18 // at carrier-dallas

	loginPBX, loginSource = 33, 35 // at pbx-dallas

	loginRealm, loginPassword = "login.example.net", "registers-for-calls"
	loginNumber               = "+12145550480"
)

// loginDocument is the shared document with that carrier in it.
func loginDocument(password string) []byte {
	const groups = `
  - name: login-in
    role: origination-customer
    numbers: ["@number@"]
    members: [{id: dal-1, site: dallas, address: "<pbx-dallas.33:5060>"}]
  - name: login-out
    role: termination-customer
    sources: [{ip: <pbx-dallas.35>, port: 5060}]
    route_plan: login
    numbering: {country_code: "1"}
  - name: carrier-login
    role: pstn-provider
    sources: [{ip: <carrier-dallas.15>}]
    monitoring: @quick@
    members:
      - id: dal
        site: dallas
        address: "<carrier-dallas.14:5060>"
        account:
          aor: sip:acme@login.example.net
          realm: login.example.net
          ha1_md5: @ha1@
          register: true
          registrar: registrar.login.example.net
          expires: 2m
          required: true
`
	text := strings.Replace(document, "\nroute_plans:", groups+"route_plans:", 1)
	text += "  - name: login\n    routes: [{prefix: \"*\", providers: [carrier-login]}]\n"
	ha1 := fmt.Sprintf("%x", md5.Sum([]byte("acme:"+loginRealm+":"+password)))
	return []byte(fill(strings.NewReplacer("@ha1@", ha1, "@number@", loginNumber).Replace(text)))
}

// accountLine is what a node says of the account.
type accountLine struct {
	Member string     `json:"member"`
	State  string     `json:"state"`
	Reason string     `json:"reason"`
	Node   string     `json:"registering_node"`
	Next   *time.Time `json:"next"`
	Until  *time.Time `json:"until"`
}

func accountAt(n *tandem.Node) (accountLine, error) {
	var list []accountLine
	out, err := n.Command("account", "list", "carrier-login/dal", "-o", "json")
	if err != nil {
		return accountLine{}, err
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list) != 1 {
		return accountLine{}, fmt.Errorf("account list of %s: %w: %s", n.Name, err, out)
	}
	return list[0], nil
}

// account waits until all living nodes say the same of the account.
func (w *world) account(t testing.TB, state string, not string) accountLine {
	t.Helper()
	var a accountLine
	eventually(t, 30*time.Second, "the account is "+state+" at all nodes", func() error {
		node := ""
		for _, n := range w.SBCs() {
			if !n.Running() {
				continue
			}
			var err error
			if a, err = accountAt(n); err != nil {
				return err
			}
			if a.State != state || a.Node == not || node != "" && a.Node != node {
				return fmt.Errorf("%s says %+v", n.Name, a)
			}
			node = a.Node
		}
		return nil
	})
	return a
}

// inboundByLogin calls the customer by way of the carrier's registrar.
func inboundByLogin(t testing.TB, s peer.Scenario) []peer.Message {
	t.Helper()
	return call(t, peer.Run{
		Place: lab.CarrierDallas, Local: netip.AddrPortFrom(lab.Host4(lab.CarrierDallas, loginCaller), 0), Scenario: s,
		Remote: netip.AddrPortFrom(lab.Host4(lab.CarrierDallas, loginRegistrar), 5060), Number: loginNumber,
	})
}

// carrierLogin is the shared cluster with that carrier.
type carrierLogin struct {
	*world
	gateway, registrar, pstn netip.AddrPort
	node                     *tandem.Node // that has registered first
	restored                 bool
}

// startCarrierLogin starts Kamailio and puts the carrier into the document.
func startCarrierLogin(t *testing.T) *carrierLogin {
	at := func(host int) netip.AddrPort { return netip.AddrPortFrom(lab.Host4(lab.CarrierDallas, host), 5060) }
	c := &carrierLogin{world: theWorld(t), gateway: at(loginHost), registrar: at(loginRegistrar), pstn: at(loginPSTN)}
	err := theNames(t).set(append(zone("10", "20"), "_sip._udp.registrar.login.example.net. 1 IN SRV 1 1 5060 sip.login.example.net.",
		"sip.login.example.net. 1 IN A "+c.registrar.Addr().String())...)
	if err != nil {
		t.Fatal(err)
	}
	kamailio, err := peer.StartLogin(peer.Login{
		Lab: theLab(t), Place: lab.CarrierDallas, At: c.gateway, Registrar: c.registrar, User: "acme", Realm: loginRealm, Password: loginPassword,
		Caller: at(loginCaller).Addr(), Callee: c.pstn,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kamailio.Stop)
	ready(t, lab.CarrierDallas, c.gateway, false)
	t.Cleanup(func() { c.restore(t) })
	c.change(t, loginPassword)
	return c
}

// change puts the carrier into the document with this password.
func (c *carrierLogin) change(t testing.TB, password string) {
	t.Helper()
	eventually(t, time.Minute, "a change", func() error { return apply(c.Node(lab.Ashburn1), loginDocument(password)) })
}

// restore takes the carrier out of it.
func (c *carrierLogin) restore(t testing.TB) {
	if !c.restored {
		c.restored = true
		c.restoreDocument(t)
	}
}

// TestCarrierThatWantsALogin: one node registers at Kamailio and its loss is another's
// gain; calls on the registration reach the customer; its calls answer Kamailio's
// challenge, of the BYE too; a wrong password is alarming; the contact goes with the
// configuration.
func TestCarrierThatWantsALogin(t *testing.T) {
	c := startCarrierLogin(t)
	first := c.account(t, "registered", "")
	t.Logf("registered by %s", first.Node)
	if !strings.HasPrefix(first.Node, "dallas") {
		t.Errorf("%s keeps the registration of a member of dallas", first.Node)
	}
	c.node = c.Node(lab.Place(first.Node))
	// A gateway that challenges probes is alive.
	c.everywhere(t, "active", "carrier-login/dal")
	simPBX(t, lab.PBXDallas, loginPBX, sim.AnswersAtOnce())
	t.Run("inbound", c.inbound)
	t.Run("outbound", c.outbound)
	t.Run("node lost", c.nodeLost)
	t.Run("wrong password", c.wrongPassword)
	t.Run("taken out", c.takenOut)
}

func (c *carrierLogin) inbound(t *testing.T) {
	r := recordOf(t, c.node, callID(t, inboundByLogin(t, peer.Complete(0))))
	if r.Direction != "inbound" || r.IngressGroup != "carrier-login" || r.Customer != "login-in" {
		t.Errorf("record: %+v", r)
	}
}

func (c *carrierLogin) outbound(t *testing.T) {
	far := callee(t, peer.Run{Place: lab.CarrierDallas, Local: c.pstn, Scenario: answers()})
	n := c.Node(lab.Dallas1)
	run := fromAcme(n, peer.Complete(0))
	run.Local = netip.AddrPortFrom(lab.Host4(lab.PBXDallas, loginSource), 5060)
	r := recordOf(t, n, callID(t, call(t, run)))
	if r.Direction != "outbound" || r.EgressGroup != "carrier-login" || r.SIPCode != 200 {
		t.Errorf("record: %+v", r)
	}
	got(t, far, "BYE") // which Kamailio passes on only with credentials
	m, err := n.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	if m.Sum("tandem_account_events_total", "trunk_group=carrier-login", "result=answered") < 1 {
		t.Error("no challenge was counted as answered")
	}
}

func (c *carrierLogin) nodeLost(t *testing.T) {
	t.Cleanup(func() {
		if err := c.node.Start(); err != nil {
			t.Fatal(err)
		}
		c.settled(t)
	})
	begin := time.Now()
	c.node.Kill()
	second := c.account(t, "registered", c.node.Name)
	t.Logf("%s has it after %v", second.Node, time.Since(begin).Round(time.Millisecond))
	inboundByLogin(t, peer.Complete(0))
}

func (c *carrierLogin) wrongPassword(t *testing.T) {
	c.change(t, "wrong")
	a := c.account(t, "failed", "")
	if !strings.Contains(a.Reason, "does not take the username or the hash") || a.Next == nil || time.Until(*a.Next) < 10*time.Second {
		t.Errorf("%+v", a)
	}
	c.everywhere(t, "down", "carrier-login/dal") // it wants its registration
	n := c.Node(lab.Place(a.Node))
	eventually(t, 10*time.Second, "the alarm", func() error {
		out, err := n.Command("node", "list", "-o", "json")
		if err == nil && !strings.Contains(string(out), "carrier_registration") {
			err = errNotYet
		}
		return err
	})
	m, err := n.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	if m.Sum("tandem_account_registered", "member=carrier-login/dal") != 0 {
		t.Error("the metrics say that it is registered")
	}
}

func (c *carrierLogin) takenOut(t *testing.T) {
	c.change(t, loginPassword)
	c.account(t, "registered", "")
	c.everywhere(t, "active", "carrier-login/dal")
	c.restore(t)
	eventually(t, 20*time.Second, "the contact is gone", func() error {
		u := newUA(t, lab.CarrierDallas, loginCaller)
		d := u.dial(loginNumber)
		u.send(c.registrar, d.request("INVITE", c.registrar, "gone", 1, "", ""))
		if d.await("INVITE", "gone", 401, 404, 480).Code() != 480 {
			return errNotYet
		}
		return nil
	})
}
