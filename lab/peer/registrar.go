package peer

import (
	"net/netip"
	"strings"

	"github.com/tandem-sbc/tandem/lab"
)

// Login says how Kamailio stands as a carrier that wants a login: a registrar and a
// proxy over UDP. It challenges REGISTER and OPTIONS by 401, and INVITE and BYE from
// everybody but its own two sides by 407.
type Login struct {
	Lab   *lab.Lab
	Place lab.Place
	// At is its gateway, Registrar where it takes REGISTERs and sends calls from.
	At, Registrar netip.AddrPort
	// User may register and call with Password in Realm; his calls go to Callee. A call
	// from Caller goes to whoever is registered as User, with its To as it was.
	User, Realm, Password string
	Caller                netip.Addr
	Callee                netip.AddrPort
}

// StartLogin starts Kamailio as a carrier that wants a login.
func StartLogin(c Login) (*lab.Process, error) {
	config := strings.NewReplacer(
		"@at@", c.At.String(), "@registrar@", c.Registrar.String(), "@user@", c.User, "@realm@", c.Realm, "@password@", c.Password,
		"@caller@", c.Caller.String(), "@callee@", c.Callee.String(), "@calleehost@", c.Callee.Addr().String(),
	).Replace(loginConfig)
	return startKamailio(c.Lab, c.Place, func(string) map[string]string { return map[string]string{kamailioConfig: config} })
}

// loginConfig keeps contacts in memory, and forks a call to all of them. One worker
// keeps the order of a call's messages, which SIPp's scripts rely on.
const loginConfig = `
debug=1
log_stderror=yes
children=1
auto_aliases=no
alias="@realm@"
dns=no
rev_dns=no
disable_tcp=yes
listen=udp:@at@
listen=udp:@registrar@
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "auth.so"
modparam("usrloc", "db_mode", 0)
modparam("registrar", "min_expires", 60)
modparam("registrar", "max_expires", 120)
modparam("auth", "nonce_expire", 60)
modparam("rr", "append_fromtag", 0)

route[LOGIN] {
	if (!pv_proxy_authenticate("@realm@", "@password@", "0") || $au != "@user@") {
		proxy_challenge("@realm@", "0");
		exit;
	}
	consume_credentials();
}

request_route {
	if (!mf_process_maxfwd_header("10")) {
		sl_send_reply("483", "Too Many Hops");
		exit;
	}
	if (is_method("CANCEL")) {
		if (t_check_trans()) t_relay();
		exit;
	}
	if (has_totag()) {
		if (is_method("BYE") && src_ip != @caller@ && src_ip != @calleehost@) route(LOGIN);
		if (loose_route()) {
			t_relay();
		} else if (is_method("ACK")) {
			if (t_check_trans()) t_relay();
		} else {
			sl_send_reply("404", "Not here");
		}
		exit;
	}
	t_check_trans();
	if (is_method("REGISTER|OPTIONS")) {
		if (!pv_www_authenticate("@realm@", "@password@", "0") || $au != "@user@") {
			www_challenge("@realm@", "0");
			exit;
		}
		save("location");
		exit;
	}
	if (src_ip == @caller@) {
		$ru = "sip:@user@@@realm@";
		if (!lookup("location")) {
			sl_send_reply("480", "Nobody is registered");
			exit;
		}
	} else {
		route(LOGIN);
		$du = "sip:@callee@";
	}
	record_route();
	if (!t_relay()) sl_reply_error();
}
`
