// Package rig runs a real cluster for tests: two sites of two nodes and a witness, each a
// process of the tandem program on loopback addresses of its own, with admin addresses of
// all kinds that a client may meet.
package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Token is the admin token of the nodes that have one.
const Token = "not-a-secret-token-of-a-test"

// Node is one node of the rig.
type Node struct {
	Name, Site, IP string
	Witness        bool
	dir, bin       string
	cmd            *exec.Cmd
	done           chan struct{}
	http           *http.Client
}

// Rig is a running cluster.
type Rig struct {
	Dir   string
	Nodes []*Node
}

// Start brings up a cluster with a document, and ends it with the test.
func Start(t *testing.T, document string) *Rig {
	t.Helper()
	bin := os.Getenv("TANDEM_BIN")
	if bin == "" {
		t.Fatal("TANDEM_BIN names the tandem program to test against; make build makes bin/tandem")
	}
	dir, err := os.MkdirTemp("", "tandem-provider") // socket paths are short, those of t.TempDir are not
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &Rig{Dir: dir}
	for _, n := range []Node{
		{Name: "dal-1", Site: "dallas", IP: "127.83.1.1"},
		{Name: "dal-2", Site: "dallas", IP: "127.83.1.2"},
		{Name: "ash-1", Site: "ashburn", IP: "127.83.2.1"},
		{Name: "ash-2", Site: "ashburn", IP: "127.83.2.2"},
		{Name: "witness-1", Site: "third", IP: "127.83.3.1", Witness: true},
	} {
		n.dir, n.bin = dir, bin
		r.Nodes = append(r.Nodes, &n)
	}
	key, err := exec.Command(bin, "cluster", "key").Output()
	if err != nil {
		t.Fatalf("cluster key: %v", err)
	}
	r.write(t, "cluster.key", string(key))
	r.write(t, "admin.token", Token)
	r.write(t, "cluster.yaml", document)
	r.certificates(t)
	for _, n := range r.Nodes {
		r.write(t, n.Name+".yaml", r.file(n))
		n.client()
		n.Start(t)
		t.Cleanup(n.Kill)
	}
	t.Cleanup(func() {
		if t.Failed() {
			r.logs(t)
		}
	})
	r.Settle(t)
	return r
}

func (r *Rig) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// certificates makes the authority of the cluster and what it signs: a certificate of each node, and
// one of a person.
func (r *Rig) certificates(t *testing.T) {
	t.Helper()
	run := func(args ...string) {
		if out, err := exec.Command(r.Nodes[0].bin, append([]string{"cluster"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("cluster %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("ca", "init", "--cluster", "provider", "--dir", r.Dir)
	for _, n := range r.Nodes {
		run("cert", n.Name, "--ca", r.Dir, "--dir", r.Dir)
	}
	run("cert", "operator", "--ca", r.Dir, "--dir", r.Dir)
}

// Remote is the address of the node's admin API for other machines. Nodes in Dallas ask for a client's certificate there, the others for the token.
func (n *Node) Remote() string { return "https://" + n.IP + ":8443" }

// ServerName is the name in the node's certificate.
func (n *Node) ServerName() string { return n.Name + ".provider.tandem.internal" }

// file is the node file of one node.
func (r *Rig) file(n *Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nsite: %s\ndata_dir: %s\n", n.Name, n.Site, filepath.Join(r.Dir, n.Name))
	if n.Witness {
		b.WriteString("witness: true\n")
	} else {
		fmt.Fprintf(&b, "listeners: [{name: udp, transport: udp, address: \"%s:5060\"}]\n", n.IP)
	}
	fmt.Fprintf(&b, "interconnect: {address: \"%s:7950\"}\ncluster:\n  id: provider\n  key_file: cluster.key\n  gossip: {address: \"%s:7946\"}\n", n.IP, n.IP)
	if !n.Witness {
		b.WriteString("  document: cluster.yaml\n")
	}
	b.WriteString("  raft:\n    voters:\n")
	for _, o := range r.Nodes {
		fmt.Fprintf(&b, "      - {name: %s, address: \"%s:7950\"}\n", o.Name, o.IP)
	}
	b.WriteString("  peers:\n")
	for _, o := range r.Nodes {
		if o != n {
			fmt.Fprintf(&b, "    - {name: %s, site: %s, gossip: \"%s:7946\", interconnect: \"%s:7950\"}\n", o.Name, o.Site, o.IP, o.IP)
		}
	}
	fmt.Fprintf(&b, "admin: {address: \"%s\"", n.Endpoint())
	ask := ", client_ca: ca.pem"
	if n.network() == "tcp" {
		b.WriteString(", token_file: admin.token")
		ask = ""
	}
	fmt.Fprintf(&b, ", remote: {address: \"%s:8443\", tls: {cert: %s.pem, key: %s.key%s}}", n.IP, n.Name, n.Name, ask)
	b.WriteString("}\nlog: {level: info, format: text}\nsip: {realm: sip.example.net}\ndrain: {announce: 0s, quiet: 0s, timeout: 0s}\n")
	return b.String()
}

// network is how the node's admin API is reached: in Dallas by a socket, elsewhere by TCP.
func (n *Node) network() string {
	if n.Site == "dallas" {
		return "unix"
	}
	return "tcp"
}

// Endpoint is the admin address of the node.
func (n *Node) Endpoint() string {
	if n.network() == "unix" {
		return "unix:" + filepath.Join(n.dir, n.Name+".sock")
	}
	return n.IP + ":8080"
}

func (n *Node) client() {
	transport := &http.Transport{}
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, n.network(), strings.TrimPrefix(n.Endpoint(), "unix:"))
	}
	n.http = &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

// Start starts the node's process.
func (n *Node) Start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(n.dir, n.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has its own descriptor
	cmd, done := exec.Command(n.bin, "server", "--config", filepath.Join(n.dir, n.Name+".yaml")), make(chan struct{})
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // no node outlives a test that panics
	// The signal comes when the thread ends that started the process: one that nobody else uses.
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- cmd.Start()
		<-done
	}()
	if err := <-started; err != nil {
		close(done)
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	n.cmd, n.done = cmd, done
}

// Kill ends the node's process at once, as a power cut would.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill()
	<-n.done
}

// Do sends a request to the node's admin API.
func (n *Node) Do(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.RequestURI = "http", "node", ""
	req.Header.Set("Authorization", "Bearer "+Token)
	return n.http.Do(req)
}

// Get decodes what the node answers to a GET.
func (n *Node) Get(path string, out any) error {
	req, err := http.NewRequest(http.MethodGet, "http://node"+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := n.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// Document is the document in force at the node.
type Document struct {
	Revision uint64
	Author   string
	Text     string
}

// Document reads the document from the first node that answers.
func (r *Rig) Document(t *testing.T) Document {
	t.Helper()
	var d Document
	for _, n := range r.Nodes {
		if n.Get("/v1/config", &d) == nil {
			return d
		}
	}
	t.Fatal("no node has a document")
	return d
}

// Apply makes a change of the document by hand, as an operator with the command line does.
func (r *Rig) Apply(t *testing.T, edit func(text string) string) {
	t.Helper()
	was := r.Document(t)
	text := edit(was.Text)
	if text == was.Text {
		t.Fatalf("the change by hand changes nothing of:\n%s", text)
	}
	req, err := http.NewRequest(http.MethodPost, "http://node/v1/config?author=ada&reason=by+hand", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/yaml")
	for _, n := range r.Nodes {
		resp, err := n.Do(req)
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("the change by hand was refused: %s", body)
		}
		return
	}
	t.Fatal("no node takes the change by hand")
}

// Leader is the node that leads the configuration log.
func (r *Rig) Leader(t *testing.T) *Node {
	t.Helper()
	var found *Node
	wait(t, "a leader", func() bool {
		for _, n := range r.Nodes {
			var list struct{ Leader string }
			if n.Get("/v1/nodes", &list) != nil || list.Leader == "" {
				continue
			}
			for _, o := range r.Nodes {
				if o.Name == list.Leader && o.Get("/v1/nodes", &list) == nil {
					found = o
					return true
				}
			}
		}
		return false
	})
	return found
}

// Settle waits until every node has a leader and the same document.
func (r *Rig) Settle(t *testing.T) {
	t.Helper()
	wait(t, "all nodes with the same document", func() bool {
		newest := uint64(0)
		for i, n := range r.Nodes {
			var d Document
			var list struct{ Leader string }
			if n.Get("/v1/config", &d) != nil || n.Get("/v1/nodes", &list) != nil || list.Leader == "" || d.Revision == 0 {
				return false
			}
			if i > 0 && d.Revision != newest {
				return false
			}
			newest = d.Revision
		}
		return true
	})
}

// wait asks again and again, for a minute at most.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-end:
			t.Fatalf("a minute without %s", what)
		case <-tick.C:
		}
	}
}

// logs shows the end of each node's log.
func (r *Rig) logs(t *testing.T) {
	t.Helper()
	for _, n := range r.Nodes {
		text, err := os.ReadFile(filepath.Join(n.dir, n.Name+".log"))
		if err == nil {
			t.Logf("%s: ...%s", n.Name, text[max(0, len(text)-2000):])
		}
	}
}
