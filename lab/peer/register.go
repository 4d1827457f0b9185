package peer

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// Account is what a far end registers with.
type Account struct {
	// User and Domain are its address of record, sip:User@Domain; Password is its secret.
	User, Domain, Password string
	// Registrar is the node that it registers at.
	Registrar netip.AddrPort
	// Expires is what it asks for.
	Expires time.Duration
}

// AOR is the address of record.
func (a Account) AOR() string { return fmt.Sprintf("sip:%s@%s", a.User, a.Domain) }

// Registers is a scenario that registers, keeps the registration for ever by
// refreshing it, and nothing else: calls come to the scenario of StartRegistered.
func Registers(a Account, refresh time.Duration) Scenario {
	register := func(credentials string) Step {
		return send(repeat, fmt.Sprintf(`
			REGISTER sip:%s SIP/2.0
			Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=z9hG4bK-[pid]-[call_number]-[cseq];rport
			From: <%s>;tag=[pid]R[call_number]
			To: <%s>
			Call-ID: [call_id]
			CSeq: [cseq] REGISTER
			Contact: <sip:%s@[local_ip]:[local_port];transport=[transport]>
			Max-Forwards: 70
			Expires: %d%s
			Content-Length: 0`, a.Domain, a.AOR(), a.AOR(), a.User, int(a.Expires.Seconds()), credentials))
	}
	return Scenario{Name: "registers", steps: []Step{
		"<label id=\"1\"/>\n", register(""), "<recv response=\"401\" auth=\"true\"/>\n",
		register(fmt.Sprintf("\n[authentication username=%s password=%s]", a.User, a.Password)),
		"<recv response=\"200\"/>\n", Wait(refresh), "<nop next=\"1\"/>\n",
	}}
}

// StartRegistered starts SIPp with a scenario that registers; the calls that come
// for it get another one, by the same socket or connection.
func StartRegistered(r Run, a Account, refresh time.Duration, calls Scenario) (*SIPp, error) {
	path := filepath.Join(r.Lab.Dir, fmt.Sprintf("sipp-%03d-calls.xml", serial.Add(1)))
	if err := os.WriteFile(path, []byte(calls.XML()), 0o644); err != nil {
		return nil, fmt.Errorf("write scenario: %w", err)
	}
	r.Scenario, r.Remote, r.Number, r.Ceiling = Registers(a, refresh), a.Registrar, a.User, time.Hour
	r.More = append(r.More, "-oocsf", path, "-auth_uri", a.Domain)
	return StartCaller(r)
}

// StartRegisteredBaresip starts baresip with an account that registers over a
// transport (udp, tcp or tls) and answers every call.
func StartRegisteredBaresip(p Phone, transport string, a Account) (*Softphone, error) {
	account := fmt.Sprintf("<sip:%s@%s;transport=%s>;auth_user=%s;auth_pass=%s;regint=%d;answermode=auto;outbound=\"sip:%s;transport=%s\"\n",
		a.User, a.Domain, transport, a.User, a.Password, int(a.Expires.Seconds()), a.Registrar, transport)
	return p.startBaresip(account)
}

// StartRegisteredLinphone starts linphonec with an account that registers over
// TLS, logs in by SHA-256, and answers every call.
func StartRegisteredLinphone(p Phone, a Account) (*Softphone, error) {
	p.Username, p.Password, p.Realm = a.User, a.Password, a.Domain
	return p.startLinphone(fmt.Sprintf(`[proxy_0]
reg_proxy=<sip:%s;transport=tls>
reg_route=<sip:%s;transport=tls;lr>
reg_identity=%s
reg_expires=%d
reg_sendregister=1
publish=0
`, a.Registrar, a.Registrar, a.AOR(), int(a.Expires.Seconds())), "-a")
}
