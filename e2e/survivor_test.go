//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// closeAfter is how soon the nodes of these tests close the calls of a lost one.
const closeAfter = 3 * time.Second

// survivors is a cluster of processes on the loopback of this machine: two nodes in
// Dallas, one in Ashburn.
type survivors struct {
	t     testing.TB
	dir   string
	nodes map[string]*survivor
}

type survivor struct {
	name, site, ip string
	dir            string
	cmd            *exec.Cmd
}

// cdrLine is what these tests read of a record.
type cdrLine struct {
	CallID   string    `json:"call_id"`
	Kind     string    `json:"kind"`
	Version  int       `json:"version"`
	Final    bool      `json:"final"`
	ClosedBy string    `json:"closed_by"`
	Node     string    `json:"node"`
	Answer   time.Time `json:"answer_time"`
	End      time.Time `json:"end_time"`
	BillMS   int64     `json:"billsec_ms"`
	Cause    string    `json:"hangup_cause"`
	Attempts []any     `json:"attempts"`
}

// survivorNets keeps clusters that run at the same time apart.
var survivorNets atomic.Int32

func newSurvivors(t testing.TB, pbx netip.AddrPort) *survivors {
	t.Helper()
	return newSurvivorsOf(t, fmt.Sprintf(`cluster: survivors
sites: [{name: dallas}, {name: ashburn}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555*"]
    members: [{id: pbx-dal, site: dallas, address: "%[1]s"}, {id: pbx-ash, site: ashburn, address: "%[1]s"}]
  - name: carrier
    role: pstn-provider
    sources: [{ip: 127.0.0.0/8}]
    members: [{id: gw, site: dallas, address: "192.0.2.1:5060"}]
`, pbx), func(_, text string) string { return text })
}

// newSurvivorsOf starts the cluster with a document; change rewrites the node file of a node.
func newSurvivorsOf(t testing.TB, document string, change func(node, text string) string) *survivors {
	t.Helper()
	s := &survivors{t: t, dir: t.TempDir(), nodes: map[string]*survivor{}}
	net := fmt.Sprintf("127.%d.%d", 99+survivorNets.Add(1), 1+os.Getpid()%250)
	for i, n := range []string{"dal-1", "dal-2", "ash-1"} {
		site := "dallas"
		if n[0] == 'a' {
			site = "ashburn"
		}
		s.nodes[n] = &survivor{name: n, site: site, ip: fmt.Sprintf("%s.%d", net, i+1), dir: filepath.Join(s.dir, n)}
	}
	s.write("cluster.key", strings.Repeat("cd", 32))
	s.write("cluster.yaml", document)
	for _, n := range s.nodes {
		s.write(n.name+".yaml", change(n.name, s.nodeFile(n)))
		s.start(n)
	}
	for _, n := range s.nodes {
		s.ready(n)
	}
	return s
}

func (s *survivors) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *survivors) nodeFile(n *survivor) string {
	var voters, peers strings.Builder
	for _, o := range s.nodes {
		fmt.Fprintf(&voters, "      - {name: %s, address: \"%s:7950\"}\n", o.name, o.ip)
		if o != n {
			fmt.Fprintf(&peers, "    - {name: %s, site: %s, gossip: \"%s:7946\", interconnect: \"%s:7950\"}\n", o.name, o.site, o.ip, o.ip)
		}
	}
	return fmt.Sprintf(`name: %[1]s
site: %[2]s
data_dir: %[3]s
listeners: [{name: udp, transport: udp, address: "%[4]s:5060"}]
interconnect: {address: "%[4]s:7950"}
cluster:
  id: survivors
  key_file: %[5]s/cluster.key
  document: %[5]s/cluster.yaml
  gossip: {address: "%[4]s:7946"}
  raft:
    voters:
%[6]s  peers:
%[7]sadmin: {address: "unix:%[3]s.sock", metrics: "%[4]s:9060"}
cdr: {path: %[3]s/cdr.jsonl, close_after: %[8]s}
sip: {realm: "-"}
drain: {announce: 0s, quiet: 0s, timeout: 0s}
`, n.name, n.site, n.dir, n.ip, s.dir, voters.String(), peers.String(), closeAfter)
}

func (s *survivors) start(n *survivor) {
	s.t.Helper()
	binary, err := tandemBinary()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	out, err := os.OpenFile(n.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	n.cmd = exec.Command(binary, "server", "--config", filepath.Join(s.dir, n.name+".yaml"))
	n.cmd.Stdout, n.cmd.Stderr = out, out
	if err := n.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(n.kill)
}

// kill ends the process with -9.
func (n *survivor) kill() {
	if n.cmd.ProcessState == nil {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
	}
}

func (n *survivor) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := n.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func (s *survivors) ready(n *survivor) {
	s.t.Helper()
	eventually(s.t, time.Minute, n.name+" ready", func() error {
		resp, err := http.Get("http://" + n.ip + ":9060/readyz")
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz says %d", resp.StatusCode)
		}
		return nil
	})
}

// records reads the file of a node.
func (s *survivors) records(n *survivor) (list []cdrLine) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "cdr.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var r cdrLine
		if !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		if err := json.Unmarshal(line, &r); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		list = append(list, r)
	}
	return list
}

// closed lists what survivors wrote, by call id.
func (s *survivors) closed() map[string][]cdrLine {
	m := map[string][]cdrLine{}
	for _, n := range s.nodes {
		for _, r := range s.records(n) {
			if r.ClosedBy != "" {
				m[r.CallID] = append(m[r.CallID], r)
			}
		}
	}
	return m
}

// latest is what a consumer keeps: the highest version per call and kind.
func (s *survivors) latest() map[string]cdrLine {
	m := map[string]cdrLine{}
	for _, n := range s.nodes {
		for _, r := range s.records(n) {
			key := r.Kind + "/" + r.CallID
			if old, ok := m[key]; !ok || r.Version > old.Version {
				m[key] = r
			}
		}
	}
	return m
}

// callsUp sets calls up at a node and returns what runs them once all are answered
// and known to the other nodes.
func (s *survivors) callsUp(n *survivor, calls int, hold time.Duration) (hangUp func() *sim.Report) {
	s.t.Helper()
	load, err := sim.NewLoad(sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: netip.MustParseAddrPort(n.ip + ":5060")}}},
		Rate:         100, Calls: calls, Hold: hold, Grace: hold + 90*time.Second,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = load.Close() })
	done := make(chan *sim.Report, 1)
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	go func() {
		r, err := load.Run(ctx)
		if err != nil && ctx.Err() == nil {
			s.t.Error(err)
		}
		done <- r
	}()
	eventually(s.t, 30*time.Second, "calls up", func() error {
		if up := load.Counts().Up; up != calls {
			return fmt.Errorf("%d of %d calls are up", up, calls)
		}
		return nil
	})
	for _, o := range s.nodes {
		eventually(s.t, 10*time.Second, "the calls at "+o.name, func() error {
			if v := s.metric(o, `tandem_soft_entries{kind="call"}`); v < float64(calls) {
				return fmt.Errorf("%v calls known", v)
			}
			return nil
		})
	}
	return func() *sim.Report { cancel(); return <-done }
}

// metric reads one value of a node's metrics page; -1 when it is not there.
func (s *survivors) metric(n *survivor, name string) float64 {
	resp, err := http.Get("http://" + n.ip + ":9060/metrics")
	if err != nil {
		return -1
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		return -1
	}
	for line := range strings.Lines(b.String()) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			var v float64
			if _, err := fmt.Sscan(rest, &v); err == nil {
				return v
			}
		}
	}
	return -1
}

func survivorPBX(t testing.TB) netip.AddrPort {
	t.Helper()
	far, err := sim.StartFarEnd(sim.FarEndConfig{
		CalleeConfig: sim.CalleeConfig{Name: "pbx", Role: sim.PBX, Behaviour: sim.AnswersAtOnce()},
		Listen:       []sim.Listen{{Addr: netip.MustParseAddrPort("127.0.0.1:0")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	return far.Addr(0)
}

// A node is killed with calls up: each gets one record from a survivor, with the time
// until the last heartbeat, and nothing more when the node comes back (DEC-24).
func TestDEC24_SurvivorsCloseTheCallsOfAKilledNode(t *testing.T) {
	t.Parallel()
	const calls = 25
	s := newSurvivors(t, survivorPBX(t))
	dal1, dal2 := s.nodes["dal-1"], s.nodes["dal-2"]
	s.callsUp(dal1, calls, 10*time.Minute)
	dal1.kill()
	died := time.Now()
	eventually(t, 2*time.Minute, "survivors' records", func() error {
		if n := len(s.closed()); n != calls {
			return fmt.Errorf("%d calls closed", n)
		}
		return nil
	})
	t.Logf("all closed %v after the kill", time.Since(died).Round(100*time.Millisecond))
	if time.Since(died) < closeAfter {
		t.Error("closed too early")
	}
	s.checkClosed(calls, died, dal2)
	s.start(dal1)
	s.ready(dal1)
	eventually(t, 20*time.Second, "no entries left", func() error {
		for _, n := range s.nodes {
			if v := s.metric(n, `tandem_soft_entries{kind="call"}`); v != 0 {
				return fmt.Errorf("%s has %v calls", n.name, v)
			}
		}
		return nil
	})
	s.checkClosed(calls, died, dal2)
}

// checkClosed looks at the records of survivors: one per call, all by one node, since
// it is the only one left in the dead node's site.
func (s *survivors) checkClosed(calls int, died time.Time, by *survivor) {
	s.t.Helper()
	closed := s.closed()
	if len(closed) != calls {
		s.t.Errorf("%d calls closed, want %d", len(closed), calls)
	}
	for id, list := range closed {
		r := list[0]
		if len(list) != 1 || r.Final || r.ClosedBy != "survivor" || r.Version != 1 || r.Kind != "call" || r.Node != by.name || r.Cause != "NODE_LOST" || len(r.Attempts) != 1 {
			s.t.Errorf("call %s: %+v", id, list)
		}
		if off := died.Sub(r.End); off < -time.Second || off > 2*time.Second || r.BillMS != r.End.Sub(r.Answer).Milliseconds() {
			s.t.Errorf("call %s ends %v before the kill, billed %d ms", id, off, r.BillMS)
		}
	}
}

// The survivor that is to close dies too: the next one does, and each call has a record.
func TestDEC24_TheSurvivorDiesAsWell(t *testing.T) {
	t.Parallel()
	const calls = 25
	s := newSurvivors(t, survivorPBX(t))
	s.callsUp(s.nodes["dal-1"], calls, 10*time.Minute)
	s.nodes["dal-1"].kill()
	eventually(t, 2*time.Minute, "the first survivor's first record", func() error {
		if len(s.closed()) == 0 {
			return errors.New("none")
		}
		return nil
	})
	s.nodes["dal-2"].kill()
	eventually(t, 2*time.Minute, "a record of each call", func() error {
		if n := len(s.closed()); n != calls {
			return fmt.Errorf("%d calls closed", n)
		}
		return nil
	})
	if n := len(s.latest()); n != calls {
		t.Errorf("a consumer has %d calls, want %d", n, calls)
	}
}

// A node is away for longer than survivors wait, and its calls talk on: they are closed
// by survivors, and the node's own records supersede those (DEC-24).
func TestDEC24_TheOwnersRecordSupersedes(t *testing.T) {
	t.Parallel()
	const calls = 10
	s := newSurvivors(t, survivorPBX(t))
	dal1 := s.nodes["dal-1"]
	hangUp := s.callsUp(dal1, calls, 10*time.Minute)
	dal1.signal(t, syscall.SIGSTOP)
	eventually(t, 2*time.Minute, "survivors' records", func() error {
		if n := len(s.closed()); n != calls {
			return fmt.Errorf("%d calls closed", n)
		}
		return nil
	})
	dal1.signal(t, syscall.SIGCONT)
	// The calls are up, so they are entries again.
	eventually(t, time.Minute, "the calls back at the others", func() error {
		for _, n := range s.nodes {
			if v := s.metric(n, `tandem_soft_entries{kind="call"}`); v != calls {
				return fmt.Errorf("%s has %v calls", n.name, v)
			}
		}
		return nil
	})
	if r := hangUp(); r.Counts.Failed != 0 {
		t.Errorf("%d calls failed", r.Counts.Failed)
	}
	eventually(t, 20*time.Second, "the owner's records", func() error {
		latest := s.latest()
		for key, r := range latest {
			if !r.Final || r.ClosedBy != "" || r.Node != "dal-1" {
				return fmt.Errorf("%s: %+v", key, r)
			}
		}
		if len(latest) != calls {
			return fmt.Errorf("%d calls", len(latest))
		}
		return nil
	})
}
