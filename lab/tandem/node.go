package tandem

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tandem-sbc/tandem/lab"
)

// Node is one `tandem server` of a cluster.
type Node struct {
	// Name is the node's name and its place's; Site is where it stands.
	Name       string
	Place      lab.Place
	Site       string
	IPv4, IPv6 netip.Addr
	// ClockOffset is how far the node's clock is wrong. Write puts it into the node
	// file, for the next Start.
	ClockOffset time.Duration

	// Binary is an earlier tandem program for this node's next Start; empty means the
	// cluster's. Write leaves out of its node file what it may not know.
	Binary string

	// Trust is a directory with cluster.key, ca.pem and the node's certificate NODE.pem
	// and NODE.key; empty means the cluster's key and no TLS between nodes.
	Trust string
	// AuthorityKey is the key of the authority on a node that admits others; mostly empty.
	AuthorityKey string

	cluster *Cluster
	dir     string
	socket  string
	process *lab.Process
}

// UDP is the node's SIP address for UDP and TCP over IPv4; TLS that for TLS.
func (n *Node) UDP() netip.AddrPort { return netip.AddrPortFrom(n.IPv4, PortSIP) }

// TLS is the node's SIP address for TLS over IPv4.
func (n *Node) TLS() netip.AddrPort { return netip.AddrPortFrom(n.IPv4, PortTLS) }

// WSS is the node's SIP address for WebSockets over IPv4, at the path /sip.
func (n *Node) WSS() netip.AddrPort { return netip.AddrPortFrom(n.IPv4, PortWSS) }

// CertFile is the node's certificate for TLS and WebSockets.
func (n *Node) CertFile() string {
	return filepath.Join(filepath.Dir(n.cluster.Authority.CertFile), n.cluster.Name+"-"+n.Name+".pem")
}

func (n *Node) configPath() string { return filepath.Join(n.dir, "node.yaml") }
func (n *Node) cdrPath() string    { return filepath.Join(n.dir, "calls.jsonl") }

// DataDir is where the node keeps what must survive a restart.
func (n *Node) DataDir() string { return filepath.Join(n.dir, "data") }

// Socket is the Unix socket of the node's admin API.
func (n *Node) Socket() string { return n.socket }

// Write makes the node's directory, certificate and file.
func (n *Node) Write() error {
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	keys, err := n.cluster.Authority.Issue(n.cluster.Name+"-"+n.Name, n.IPv4, n.IPv6)
	if err != nil {
		return err
	}
	if err := os.WriteFile(n.configPath(), []byte(n.file(keys)), 0o600); err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	return nil
}

// Start starts the node's process. Its log goes on where an earlier one ended.
func (n *Node) Start() error {
	p, err := n.cluster.Lab.Start(lab.Program{
		Place: n.Place, Name: n.cluster.Name + "-" + n.Name,
		Args: []string{cmp.Or(n.Binary, n.cluster.Binary), "server", "--config", n.configPath()},
	})
	if err != nil {
		return err
	}
	n.process = p
	return nil
}

// Running tells whether the node's process runs.
func (n *Node) Running() bool { return n.process != nil && n.process.Running() }

// Pid is the process id of the running node.
func (n *Node) Pid() int { return n.process.Pid() }

// Kill ends the node with SIGKILL, as a crash of its machine does.
func (n *Node) Kill() { n.process.Kill() }

// Stop asks the node to end and waits for it.
func (n *Node) Stop() {
	if n.Running() {
		n.process.Stop()
	}
	// A killed node leaves its socket; the next start makes it anew.
	_ = os.Remove(n.socket)
}

// Command runs a tandem command against the node's admin API and returns what
// it printed to standard output.
func (n *Node) Command(args ...string) ([]byte, error) {
	return n.CommandInput(nil, args...)
}

// CommandInput is Command with standard input.
func (n *Node) CommandInput(input []byte, args ...string) ([]byte, error) {
	cmd := exec.Command(n.cluster.Binary, append(args, "--address", "unix:"+n.socket)...)
	cmd.Stdin = bytes.NewReader(input)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("node %s: tandem %v: %w: %s", n.Name, args, err, bytes.TrimSpace(problems.Bytes()))
	}
	return out, nil
}

// Record is what the tests read of a call record.
type Record struct {
	CallID       string    `json:"call_id"`
	Kind         string    `json:"kind"`
	Final        bool      `json:"final"`
	Node         string    `json:"node"`
	Site         string    `json:"site"`
	EgressSite   string    `json:"egress_site"`
	HandedOff    bool      `json:"handed_off"`
	Direction    string    `json:"direction"`
	Customer     string    `json:"customer"`
	IngressGroup string    `json:"ingress_group"`
	EgressGroup  string    `json:"egress_group"`
	EgressMember string    `json:"egress_member"`
	Called       string    `json:"called"`
	SIPCallID    string    `json:"sip_call_id"`
	SIPCode      int       `json:"sip_code"`
	HangupCause  string    `json:"hangup_cause"`
	PDD          int64     `json:"pdd_ms"`
	Billed       int64     `json:"billsec_ms"`
	AuthUser     string    `json:"auth_user"`
	Test         bool      `json:"test"`
	Attempts     []Attempt `json:"attempts"`
}

// Attempt is one attempt of a call record.
type Attempt struct {
	Group   string `json:"group"`
	Member  string `json:"member"`
	Site    string `json:"site"`
	Dialed  bool   `json:"dialed"`
	Code    int    `json:"code"`
	Cause   string `json:"cause"`
	Elapsed int64  `json:"elapsed_ms"`
}

// Records reads the node's call records. A last line that is being written is
// left out.
func (n *Node) Records() ([]Record, error) {
	b, err := os.ReadFile(n.cdrPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("records of %s: %w", n.Name, err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	var list []Record
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("records of %s: %w: %s", n.Name, err, lines.Bytes())
		}
		list = append(list, r)
	}
	return list, lines.Err()
}
