package dispatcher

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrMissing says that this machine has no Kamailio.
var ErrMissing = errors.New("kamailio is not installed")

// readyIn is how long Kamailio may take to answer its first question.
const readyIn = 10 * time.Second

// config is a Kamailio that tells where it would send a request, by the algorithm
// that stands in X-Alg.
const config = `#!KAMAILIO
debug=1
log_stderror=yes
children=1
disable_tcp=yes
auto_aliases=no
dns=no
rev_dns=no
maxbuffer=4194304
listen=udp:%[1]s
loadmodule "sl.so"
loadmodule "pv.so"
loadmodule "ctl.so"
loadmodule "dispatcher.so"
modparam("ctl", "binrpc", "unix:%[2]s")
modparam("dispatcher", "list_file", "%[3]s")
modparam("dispatcher", "flags", %[4]d)
modparam("dispatcher", "xavp_dst", "_dst")
modparam("dispatcher", "reload_delta", 0)
modparam("dispatcher", "hash_pvar", "$hdr(X-Key)")

request_route {
	$var(alg) = $(hdr(X-Alg){s.int});
	if (ds_select_dst("1", "$var(alg)")) {
		sl_send_reply("200", "$du");
	} else {
		sl_send_reply("404", "none");
	}
}
`

// flags of the dispatcher module: 2 keeps the list of the others, 1 hashes the user
// of From and To alone.
const (
	flagFailover = 2
	flagUserOnly = 1
)

// Kamailio is a running one. It belongs to one goroutine.
type Kamailio struct {
	dir  string
	addr netip.AddrPort
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	log  bytes.Buffer
}

// Member is one destination, by its port on loopback, with what stands behind it
// in the list: flags, priority and attributes.
type Member struct {
	Port  int
	Attrs string
}

// URI is how Kamailio knows the member.
func (m Member) URI() string { return fmt.Sprintf("sip:127.0.0.1:%d", m.Port) }

// Settings say what to start.
type Settings struct {
	Dir      string         // for its files
	Addr     netip.AddrPort // where it listens
	Members  []Member
	UserOnly bool // hash the user of From and To alone (K-21)
}

// Start starts it and waits until it answers. Errors: ErrMissing.
func Start(s Settings) (*Kamailio, error) {
	binary, err := exec.LookPath("kamailio")
	if err != nil {
		return nil, ErrMissing
	}
	k := &Kamailio{dir: s.Dir, addr: s.Addr, done: make(chan struct{})}
	flags := flagFailover
	if s.UserOnly {
		flags |= flagUserOnly
	}
	file := filepath.Join(s.Dir, "kamailio.cfg")
	text := fmt.Sprintf(config, s.Addr, k.socket(), k.list(), flags)
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), k.write(s.Members)); err != nil {
		return nil, fmt.Errorf("dispatcher: %w", err)
	}
	k.cmd = exec.Command(binary, "-DD", "-E", "-m", "64", "-M", "8", "-Y", s.Dir, "-f", file)
	k.cmd.Stdout, k.cmd.Stderr = &k.log, &k.log
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := k.cmd.Start(); err != nil {
		return nil, fmt.Errorf("dispatcher: %w", err)
	}
	go func() {
		_ = k.cmd.Wait() // it is killed in the end
		close(k.done)
	}()
	for deadline := time.Now().Add(readyIn); ; {
		_, err = k.Place(ByCallID, []string{"ready"})
		select {
		case <-k.done: // somebody else answers at its address
			return nil, fmt.Errorf("kamailio ended: %s", &k.log)
		default:
		}
		if err == nil {
			return k, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("kamailio does not answer: %w", err), k.Stop())
		}
	}
}

func (k *Kamailio) socket() string { return filepath.Join(k.dir, "ctl") }
func (k *Kamailio) list() string   { return filepath.Join(k.dir, "dispatcher.list") }

func (k *Kamailio) write(members []Member) error {
	var b strings.Builder
	for _, m := range members {
		fmt.Fprintf(&b, "1 %s %s\n", m.URI(), m.Attrs)
	}
	return os.WriteFile(k.list(), []byte(b.String()), 0o600)
}

// Load gives it another list of members.
func (k *Kamailio) Load(members []Member) error {
	if err := k.write(members); err != nil {
		return fmt.Errorf("dispatcher: %w", err)
	}
	return k.order("dispatcher.reload")
}

// SetState puts a member into a state of kamcmd: a, i, t or d, with p behind it for
// one that is probed.
func (k *Kamailio) SetState(state string, m Member) error {
	return k.order("dispatcher.set_state", state, "1", m.URI())
}

func (k *Kamailio) order(args ...string) error {
	out, err := exec.Command("kamcmd", append([]string{"-s", "unix:" + k.socket()}, args...)...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("error:")) {
		return fmt.Errorf("kamcmd %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// Stop ends it.
func (k *Kamailio) Stop() error {
	if err := syscall.Kill(-k.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("dispatcher: %w", err)
	}
	<-k.done
	return nil
}
