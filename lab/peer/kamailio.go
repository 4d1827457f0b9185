package peer

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/tandem-sbc/tandem/lab"
)

// Edge says how Kamailio stands as a TLS edge between SIPp, which has no TLS,
// and another TLS endpoint. What comes in over TLS goes to Inside in the clear;
// what comes in the clear goes to Outside over TLS. It record-routes.
type Edge struct {
	Lab   *lab.Lab
	Place lab.Place
	// TLS and Plain are where it listens, Plain on both UDP and TCP.
	TLS, Plain netip.AddrPort
	// Inside is the SIPp callee; Outside the TLS endpoint. Either may be unset.
	Inside, Outside netip.AddrPort
	// Keys is its certificate for both roles; Authority signs the other side's,
	// which is verified.
	Keys      KeyPair
	Authority *Authority
}

// StartEdge starts Kamailio as a TLS edge.
func StartEdge(e Edge) (*lab.Process, error) {
	return startKamailio(e.Lab, e.Place, func(dir string) map[string]string {
		return map[string]string{kamailioConfig: e.config(filepath.Join(dir, tlsConfig)), tlsConfig: e.tls()}
	})
}

// Files of a Kamailio.
const kamailioConfig, tlsConfig = "kamailio.cfg", "tls.cfg"

// startKamailio starts Kamailio with files in a directory of its own, by their paths in
// it. One is kamailioConfig.
func startKamailio(l *lab.Lab, place lab.Place, files func(dir string) map[string]string) (*lab.Process, error) {
	name := fmt.Sprintf("kamailio-%03d-%s", serial.Add(1), place)
	dir := filepath.Join(l.Dir, name)
	for file, text := range files(dir) {
		path := filepath.Join(dir, file)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("kamailio's configuration: %w", err)
		}
	}
	return l.Start(lab.Program{
		Place: place, Name: name, Dir: dir,
		Args: []string{
			"kamailio", "-f", filepath.Join(dir, kamailioConfig), "-DD", "-E", "-m", "32", "-M", "4",
			"-w", dir, "-Y", dir, "-P", filepath.Join(dir, "kamailio.pid"),
		},
	})
}

// proxyRoute is how a proxy begins with a request: what follows it gets those that
// begin a dialog, and says where they go.
const proxyRoute = `	if (!mf_process_maxfwd_header("10")) {
		sl_send_reply("483", "Too Many Hops");
		exit;
	}
	if (is_method("CANCEL")) {
		if (t_check_trans()) t_relay();
		exit;
	}
	if (has_totag()) {
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
	if (is_method("OPTIONS")) {
		sl_send_reply("200", "OK");
		exit;
	}
	record_route();
`

// edgeConfig is a transaction-stateful proxy with two fixed directions.
const edgeConfig = `
debug=1
log_stderror=yes
children=1
tcp_children=2
auto_aliases=no
dns=no
rev_dns=no
enable_tls=yes
tcp_connection_lifetime=300
@source@
listen=udp:@plain@
listen=tcp:@plain@
listen=tls:@tls@
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "tls.so"
modparam("tls", "config", "@profile@")
modparam("rr", "enable_double_rr", 1)
modparam("rr", "append_fromtag", 0)

request_route {
` + proxyRoute + `	if (proto == TLS) {
		$du = "sip:@inside@";
	} else {
		$du = "sip:@outside@;transport=tls";
	}
	if (!t_relay()) sl_reply_error();
}
`

func (e Edge) config(tls string) string {
	// What it opens towards the other side comes from its own address.
	source := "tcp_source_ipv4=" + e.TLS.Addr().String()
	if e.TLS.Addr().Is6() {
		source = "tcp_source_ipv6=" + bracketed(e.TLS.Addr())
	}
	return strings.NewReplacer(
		"@source@", source, "@plain@", e.Plain.String(), "@tls@", e.TLS.String(), "@profile@", tls,
		"@inside@", e.Inside.String(), "@outside@", e.Outside.String(),
	).Replace(edgeConfig)
}

// tls is the profile for both roles: show the certificate, verify the other's.
func (e Edge) tls() string {
	role := func(name, verify string) string {
		return fmt.Sprintf("[%s:default]\nmethod = TLSv1.2+\nprivate_key = %s\ncertificate = %s\nca_list = %s\n%s\n",
			name, e.Keys.KeyFile, e.Keys.CertFile, e.Authority.CertFile, verify)
	}
	return role("server", "verify_certificate = no\nrequire_certificate = no") +
		role("client", "verify_certificate = yes\nrequire_certificate = yes")
}
