package peer

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tandem-sbc/tandem/lab"
)

// Softphone is a running softphone that is driven by typed commands.
type Softphone struct {
	*lab.Process
	input io.WriteCloser
	mu    sync.Mutex
}

// Type gives the softphone one command line.
func (s *Softphone) Type(line string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.WriteString(s.input, line+"\n"); err != nil {
		return fmt.Errorf("command to %s: %w", s.Name, err)
	}
	return nil
}

// Output is everything that the softphone has printed until now.
func (s *Softphone) Output() (string, error) {
	b, err := os.ReadFile(s.Log)
	if err != nil {
		return "", fmt.Errorf("output of %s: %w", s.Name, err)
	}
	return string(b), nil
}

// Phone says how a softphone is started.
type Phone struct {
	Lab   *lab.Lab
	Place lab.Place
	// Local is where it listens.
	Local netip.AddrPort
	// Outbound is the proxy that all its calls go to.
	Outbound netip.AddrPort
	// Username is its user, which is all that baresip answers for; Password and
	// Realm are its credentials for digest.
	Username, Password, Realm string
	// Keys and Authority are for TLS: its certificate, and whom it trusts.
	Keys      KeyPair
	Authority *Authority
}

// start writes the files into a directory of the phone's own and runs it there.
func (p Phone) start(program string, files map[string]string, args func(dir string) []string) (*Softphone, error) {
	name := fmt.Sprintf("%s-%03d-%s", program, serial.Add(1), p.Place)
	dir := filepath.Join(p.Lab.Dir, name)
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("directory of %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("files of %s: %w", name, err)
		}
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("input of %s: %w", name, err)
	}
	defer in.Close()
	proc, err := p.Lab.Start(lab.Program{
		Place: p.Place, Name: name, Dir: dir, Input: in,
		Args: append([]string{program}, args(dir)...), Env: []string{"HOME=" + dir},
	})
	if err != nil {
		out.Close()
		return nil, err
	}
	return &Softphone{Process: proc, input: out}, nil
}

// StartBaresip starts baresip with a TLS account that answers every call.
func StartBaresip(p Phone) (*Softphone, error) {
	return p.startBaresip(fmt.Sprintf("<sip:%s@%s;transport=tls>;regint=0;answermode=auto;outbound=\"sip:%s;transport=tls\"\n",
		p.Username, p.Local, p.Outbound))
}

// startBaresip starts baresip with one line of its accounts.
func (p Phone) startBaresip(account string) (*Softphone, error) {
	cert, err := os.ReadFile(p.Keys.CertFile)
	if err != nil {
		return nil, fmt.Errorf("baresip's certificate: %w", err)
	}
	key, err := os.ReadFile(p.Keys.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("baresip's key: %w", err)
	}
	return p.start("baresip", map[string]string{
		"keys.pem": string(cert) + string(key),
		"accounts": account,
		"contacts": "",
		"config": strings.NewReplacer("@listen@", netip.AddrPortFrom(p.Local.Addr(), p.Local.Port()-1).String(),
			"@authority@", p.Authority.CertFile).Replace(baresipConfig),
	}, func(dir string) []string { return []string{"-f", dir} })
}

// baresipConfig has no device: an audio bridge sends back what it hears.
// baresip listens for TLS on the port after that of sip_listen.
const baresipConfig = `poll_method epoll
sip_listen @listen@
sip_certificate keys.pem
sip_cafile @authority@
call_local_timeout 120
call_max_calls 8
audio_source aubridge,none
audio_player aubridge,none
audio_alert aubridge,none
module_path /usr/lib/baresip/modules
module stdio.so
module g711.so
module aubridge.so
module_tmp account.so
module_app menu.so
`

// StartLinphone starts linphonec with credentials for digest by SHA-256, over UDP.
func StartLinphone(p Phone) (*Softphone, error) { return p.startLinphone("") }

// startLinphone starts linphonec with more sections of its file and arguments.
func (p Phone) startLinphone(sections string, more ...string) (*Softphone, error) {
	trust, port := "", "0"
	if p.Authority != nil {
		// Its TLS library does not know addresses in certificates. Any port will do.
		trust, port = "root_ca="+p.Authority.CertFile+"\nverify_server_cn=0\n", "-1"
	}
	return p.start("linphonec", map[string]string{
		// linphonec does not make this directory and is noisy without it.
		".local/share/linphone/.keep": "",
		"rc": strings.NewReplacer("@port@", fmt.Sprint(p.Local.Port()), "@address@", p.Local.Addr().String(),
			"@user@", p.Username, "@password@", p.Password, "@realm@", p.Realm, "@trust@", trust, "@tls@", port).Replace(linphoneConfig) + sections,
	}, func(dir string) []string { return append([]string{"-c", filepath.Join(dir, "rc"), "-d", "1"}, more...) })
}

const linphoneConfig = `[sip]
sip_udp_port=@port@
sip_tcp_port=0
sip_tls_port=@tls@
default_proxy=-1
@trust@guess_hostname=0
contact=sip:@user@@@address@
register_only_when_network_is_up=0
[auth_info_0]
username=@user@
userid=@user@
passwd=@password@
realm=@realm@
domain=@realm@
algorithm=SHA-256
`
