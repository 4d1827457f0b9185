//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tandemDocument sends calls of a carrier on loopback to a customer whose two
// PBXs are the far ends.
const tandemDocument = `cluster: bench
sites: [{name: dallas}]
trunk_groups:
  - name: carrier
    role: pstn-provider
    sources: [{ip: 127.0.0.1}]
    members: [{id: carrier-1, site: dallas, address: "127.0.0.1:17900"}]
  - name: customer
    role: origination-customer
    numbers: ["+1214555*"]
    distribution: {method: load-balance}
    monitoring: {profile: kamailio, interval: 10s}
    members:
      - {id: far-1, site: dallas, address: "%s"}
      - {id: far-2, site: dallas, address: "%s"}
`

const tandemNode = `name: bench-1
site: dallas
data_dir: %[1]s/data
listeners: [{name: udp, transport: udp, address: "%[2]s"}]
interconnect: {address: "127.0.0.1:17950"}
cluster:
  id: bench
  key_file: %[1]s/cluster.key
  document: %[1]s/cluster.yaml
  gossip: {address: "127.0.0.1:17946"}
  raft: {voters: [{name: bench-1, address: "127.0.0.1:17950"}]}
admin: {address: "unix:%[1]s/admin.sock", metrics: "%[4]s"}
cdr: {path: %[1]s/cdr.jsonl}
log: {level: %[3]s, format: json}
sip: {realm: bench.example}
drain: {announce: 0s, quiet: 0s, timeout: 0s}
`

const tandemHealth = "127.0.0.1:17960"

// tandemUp asks the node whether it takes calls: before its table is there it
// answers OPTIONS but no INVITE.
func tandemUp(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+tandemHealth+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// buildTandem compiles the server once per invocation.
func (b *bench) buildTandem(ctx context.Context) (string, error) {
	if b.binary != "" {
		return b.binary, nil
	}
	path := filepath.Join(b.dir, "tandem")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "github.com/tandem-sbc/tandem/cmd/tandem")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	b.binary = path
	return path, nil
}

// startTandem starts one node as an operator would: a log line and a call record
// for each call.
func startTandem(b *bench, dir string) ([]*process, error) { return tandemNodeIn(b, dir, "info") }

// startTandemQuiet leaves the log lines out, as the other servers do; call
// records are written all the same.
func startTandemQuiet(b *bench, dir string) ([]*process, error) { return tandemNodeIn(b, dir, "warn") }

func tandemNodeIn(b *bench, dir, level string) ([]*process, error) {
	binary, err := b.buildTandem(context.Background())
	if err != nil {
		return nil, err
	}
	key, err := exec.Command(binary, "cluster", "key").Output()
	if err != nil {
		return nil, fmt.Errorf("cluster key: %w", err)
	}
	for name, text := range map[string]string{
		"cluster.key":  strings.TrimSpace(string(key)) + "\n",
		"cluster.yaml": fmt.Sprintf(tandemDocument, farAddr(0), farAddr(1)),
		"node.yaml":    fmt.Sprintf(tandemNode, dir, sutAddr, level, tandemHealth),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("tandem: %w", err)
		}
	}
	p, err := b.spawn(dir, "tandem", b.sutCore, false, []string{"GOMAXPROCS=1"}, binary, "server", "--config", filepath.Join(dir, "node.yaml"))
	if err != nil {
		return nil, err
	}
	return []*process{p}, nil
}
