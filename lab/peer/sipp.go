package peer

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tandem-sbc/tandem/lab"
)

// SIPp is a running SIPp.
type SIPp struct {
	*lab.Process
	// MessageLog is the file in which SIPp writes every message.
	MessageLog string
}

// Run says how a scenario is run.
type Run struct {
	Lab   *lab.Lab
	Place lab.Place
	// Local is where SIPp listens and sends from; port 0 lets SIPp choose.
	Local netip.AddrPort
	// TCP chooses TCP instead of UDP.
	TCP      bool
	Scenario Scenario

	// The rest is for callers: whom to send to, the number called, how many
	// calls (0 means 1), how many in a second (0 means 10), and the longest time
	// that the whole run may take (0 means a minute).
	Remote  netip.AddrPort
	Number  string
	Calls   int
	PerSec  int
	Ceiling time.Duration
	// More are further arguments of SIPp.
	More []string
}

// serial numbers the runs of this process, so that each has its own files.
var serial atomic.Uint64

// StartCallee starts SIPp as a callee; it takes calls until it is stopped.
func StartCallee(r Run) (*SIPp, error) { return r.start(r.More...) }

// StartCaller starts SIPp as a caller; it ends by itself after its calls.
func StartCaller(r Run) (*SIPp, error) {
	calls, rate, ceiling := r.Calls, r.PerSec, r.Ceiling
	if calls == 0 {
		calls = 1
	}
	if rate == 0 {
		rate = 10
	}
	if ceiling == 0 {
		ceiling = time.Minute
	}
	args := []string{
		r.Remote.String(), "-s", r.Number, "-m", strconv.Itoa(calls), "-r", strconv.Itoa(rate),
		"-timeout", strconv.Itoa(int(ceiling.Seconds())) + "s", "-timeout_error",
		// Its default digest URI has no user part; that of the request is right.
		"-auth_uri", fmt.Sprintf("%s@%s;transport=%s", r.Number, r.Remote, r.transport()),
	}
	return r.start(append(args, r.More...)...)
}

// transport is what SIPp writes for [transport].
func (r Run) transport() string {
	if r.TCP {
		return "TCP"
	}
	return "UDP"
}

// start writes the scenario and starts SIPp with it.
func (r Run) start(args ...string) (*SIPp, error) {
	number := serial.Add(1)
	name := fmt.Sprintf("sipp-%03d-%s-%s", number, r.Place, r.Scenario.Name)
	path := filepath.Join(r.Lab.Dir, name)
	if err := os.WriteFile(path+".xml", []byte(r.Scenario.XML()), 0o644); err != nil {
		return nil, fmt.Errorf("write scenario: %w", err)
	}
	mode := "u1"
	if r.TCP {
		mode = "t1"
	}
	argv := []string{
		"sipp", "-sf", path + ".xml", "-t", mode, "-nostdin",
		"-i", bracketed(r.Local.Addr()), "-mi", r.Local.Addr().String(),
		"-trace_msg", "-message_file", path + ".messages",
		"-trace_err", "-error_file", path + ".errors",
		// The number of a process comes again during a long run, and with it SIPp's own
		// Call-ID; records are found by that.
		"-cid_str", fmt.Sprintf("%%u-%%p-%d@%%s", number),
		// A callee's lost call must not stop it, nor a caller end its run early.
		"-max_invite_retrans", "12",
	}
	if r.Local.Port() != 0 {
		argv = append(argv, "-p", strconv.Itoa(int(r.Local.Port())))
	}
	p, err := r.Lab.Start(lab.Program{Place: r.Place, Name: name, Args: append(argv, args...)})
	if err != nil {
		return nil, err
	}
	return &SIPp{Process: p, MessageLog: path + ".messages"}, nil
}

// bracketed writes an address as SIPp's -i wants it: IPv6 in brackets.
func bracketed(a netip.Addr) string {
	if a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}

// Messages returns what SIPp sent and received until now.
func (s *SIPp) Messages() ([]Message, error) {
	b, err := os.ReadFile(s.MessageLog)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("message log: %w", err)
	}
	return ParseMessages(b), nil
}

// Quit asks SIPp to finish its open calls and end, and ends it by force after a
// grace time.
func (s *SIPp) Quit() {
	s.Signal(syscall.SIGUSR1)
	select {
	case <-s.Done():
	case <-time.After(2 * time.Second):
		s.Stop()
	}
}
