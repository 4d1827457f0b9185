package peer

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/tandem-sbc/tandem/lab"
)

// Trunk says how Kamailio stands as the edge of a customer whose PBX registers:
// its module uac registers accounts over UDP, TCP and TLS, and what comes for them
// goes to the PBX behind it.
type Trunk struct {
	Lab   *lab.Lab
	Place lab.Place
	// Plain is where it listens for UDP and TCP, TLS for that.
	Plain, TLS netip.AddrPort
	// Inside is the PBX.
	Inside netip.AddrPort
	// Accounts are by transport: udp, tcp, tls.
	Accounts map[string]Account
	// Keys is its certificate; Authority signs the registrar's, which is verified.
	Keys      KeyPair
	Authority *Authority
}

// StartTrunk starts Kamailio as the edge of a customer that registers.
func StartTrunk(k Trunk) (*lab.Process, error) {
	edge := Edge{Keys: k.Keys, Authority: k.Authority}
	return startKamailio(k.Lab, k.Place, func(dir string) map[string]string {
		config := strings.NewReplacer("@plain@", k.Plain.String(), "@tls@", k.TLS.String(), "@profile@", filepath.Join(dir, tlsConfig),
			"@db@", filepath.Join(dir, "db"), "@inside@", k.Inside.String(), "@source@", k.TLS.Addr().String()).Replace(trunkConfig)
		return map[string]string{
			kamailioConfig: config,
			tlsConfig:      edge.tls(),
			"db/version":   "id(int,auto) table_name(string) table_version(int)\n1:uacreg:5\n",
			"db/uacreg":    k.accounts(),
		}
	})
}

// accounts is the table of the module uac, in the form of db_text, which escapes
// colons.
func (k Trunk) accounts() string {
	var b strings.Builder
	b.WriteString("id(int,auto) l_uuid(string) l_username(string) l_domain(string) r_username(string) r_domain(string) realm(string) " +
		"auth_username(string) auth_password(string) auth_ha1(string,null) auth_proxy(string) expires(int) flags(int) reg_delay(int) " +
		"contact_addr(string) socket(string)\n")
	n := 0
	for transport, a := range k.Accounts {
		n++
		local := k.Plain
		if transport == "tls" {
			local = k.TLS
		}
		fields := []string{
			fmt.Sprint(n), a.User, a.User, a.Domain, a.User, a.Domain, a.Domain, a.User, a.Password, "",
			fmt.Sprintf("sip:%s;transport=%s", a.Registrar, transport), fmt.Sprint(int(a.Expires.Seconds())), "0", "0",
			fmt.Sprintf("%s;transport=%s", local, transport), fmt.Sprintf("%s:%s", transport, local),
		}
		for i, f := range fields {
			fields[i] = strings.ReplaceAll(f, ":", "\\:")
		}
		b.WriteString(strings.Join(fields, ":") + "\n")
	}
	return b.String()
}

const trunkConfig = `
debug=1
log_stderror=yes
children=1
tcp_children=2
auto_aliases=no
dns=no
rev_dns=no
enable_tls=yes
tcp_connection_lifetime=300
tcp_source_ipv4=@source@
listen=udp:@plain@
listen=tcp:@plain@
listen=tls:@tls@
loadmodule "db_text.so"
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "tls.so"
loadmodule "uac.so"
modparam("tls", "config", "@profile@")
modparam("rr", "enable_double_rr", 1)
modparam("rr", "append_fromtag", 0)
modparam("uac", "reg_db_url", "text://@db@")
modparam("uac", "reg_contact_addr", "@plain@")
modparam("uac", "reg_timer_interval", 2)
modparam("uac", "reg_retry_interval", 2)
modparam("uac", "restore_mode", "none")

request_route {
` + proxyRoute + `	$du = "sip:@inside@";
	if (!t_relay()) sl_reply_error();
}
`
