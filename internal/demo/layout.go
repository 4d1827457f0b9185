package demo

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// The stage: addresses in 127/8, which Linux has without any set-up.
const (
	sitePort    = 5060
	streamPort  = 7950
	gossipPort  = 7946
	metricsPort = 9060
)

// place is one node of the demo.
type place struct {
	name, site string
	ip         string
	witness    bool
}

var places = []place{
	{name: "dal-1", site: "dallas", ip: "127.77.1.1"},
	{name: "dal-2", site: "dallas", ip: "127.77.1.2"},
	{name: "ash-1", site: "ashburn", ip: "127.77.2.1"},
	{name: "ash-2", site: "ashburn", ip: "127.77.2.2"},
	{name: "witness-1", site: "third", ip: "127.77.3.1", witness: true},
}

// far is one simulated far end.
type far struct {
	id, group, site, ip string
	carrier             bool
}

var fars = []far{
	{id: "acme-dal-1", group: "acme-in", site: "dallas", ip: "127.77.11.1"},
	{id: "acme-dal-2", group: "acme-in", site: "dallas", ip: "127.77.11.2"},
	{id: "acme-ash-1", group: "acme-in", site: "ashburn", ip: "127.77.12.1"},
	{id: "acme-ash-2", group: "acme-in", site: "ashburn", ip: "127.77.12.2"},
	{id: "bigtel-dal", group: "bigtel", site: "dallas", ip: "127.77.21.1", carrier: true},
	{id: "bigtel-ash", group: "bigtel", site: "ashburn", ip: "127.77.22.1", carrier: true},
	{id: "lowcost-dal", group: "lowcost", site: "dallas", ip: "127.77.21.2", carrier: true},
	{id: "lowcost-ash", group: "lowcost", site: "ashburn", ip: "127.77.22.2", carrier: true},
}

const (
	pstnIP     = "127.77.31.1" // calls towards Acme come from here
	customerIP = "127.77.31.2" // Acme's own calls come from here
	guestIP    = "127.0.0.1"   // a softphone or SIPp beside the demo
	acmeNumber = "+12145550100"
)

func at(ip string, port int) string { return fmt.Sprintf("%s:%d", ip, port) }

func addr(ip string, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(ip), port)
}

// document is the cluster document: one customer in both directions, two
// carriers, everything in both sites, with timers for people who watch.
func document() string {
	var b strings.Builder
	b.WriteString(`cluster: demo
sites:
  - {name: dallas, peers: [ashburn]}
  - {name: ashburn, peers: [dallas]}
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555*"]
    distribution: {method: load-balance}
    monitoring: {profile: kamailio, interval: 500ms, down_interval: 500ms, timeout: 400ms}
    timers: {b_timer: 1s, progress: 3s, ring: 5s, max_pdd: 9s}
    members:
`)
	members(&b, "acme-in")
	fmt.Fprintf(&b, `  - name: acme-out
    role: termination-customer
    sources: [{ip: %s}]
    route_plan: everywhere
    timers: {max_pdd: 9s}
`, customerIP)
	for _, group := range []string{"bigtel", "lowcost"} {
		sources := ""
		if group == "bigtel" {
			sources = fmt.Sprintf("    sources: [{ip: %s}, {ip: %s}]\n", pstnIP, guestIP)
		}
		fmt.Fprintf(&b, `  - name: %s
    role: pstn-provider
%s    distribution: {method: load-balance}
    monitoring: {profile: kamailio, interval: 500ms, down_interval: 500ms, timeout: 400ms}
    timers: {b_timer: 1s, progress: 3s, ring: 5s}
    members:
`, group, sources)
		members(&b, group)
	}
	b.WriteString(`route_plans:
  - name: everywhere
    routes: [{prefix: "*", providers: [bigtel, lowcost]}]
`)
	return b.String()
}

func members(b *strings.Builder, group string) {
	for _, f := range fars {
		if f.group == group {
			fmt.Fprintf(b, "      - {id: %s, site: %s, address: \"%s\"}\n", f.id, f.site, at(f.ip, sitePort))
		}
	}
}

// nodeFile is the configuration of one node. What it dials in another site goes
// through the relay.
func nodeFile(dir string, p place, via map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nsite: %s\ndata_dir: %s\n", p.name, p.site, filepath.Join(dir, p.name))
	if p.witness {
		b.WriteString("witness: true\n")
	} else {
		fmt.Fprintf(&b, "listeners:\n  - {name: udp, transport: udp, address: \"%s\"}\n  - {name: tcp, transport: tcp, address: \"%s\"}\n",
			at(p.ip, sitePort), at(p.ip, sitePort))
	}
	fmt.Fprintf(&b, "interconnect: {address: \"%s\"}\ncluster:\n  id: demo\n  key_file: %s\n  gossip: {address: \"%s\"}\n",
		at(p.ip, streamPort), filepath.Join(dir, "cluster.key"), at(p.ip, gossipPort))
	if !p.witness {
		fmt.Fprintf(&b, "  document: %s\n", filepath.Join(dir, "cluster.yaml"))
	}
	b.WriteString("  raft:\n    voters:\n")
	for _, o := range places {
		fmt.Fprintf(&b, "      - {name: %s, address: \"%s\"}\n", o.name, at(o.ip, streamPort))
	}
	b.WriteString("  peers:\n")
	for _, o := range places {
		if o.name != p.name {
			fmt.Fprintf(&b, "    - {name: %s, site: %s, gossip: \"%s\", interconnect: \"%s\"}\n",
				o.name, o.site, at(o.ip, gossipPort), at(o.ip, streamPort))
		}
	}
	b.WriteString("  dial_map:\n")
	for _, o := range places {
		for _, address := range []string{at(o.ip, gossipPort), at(o.ip, streamPort)} {
			if to, ok := via[address]; ok && o.site != p.site {
				fmt.Fprintf(&b, "    - {address: \"%s\", via: \"%s\"}\n", address, to)
			}
		}
	}
	fmt.Fprintf(&b, "admin: {address: \"unix:%s\", metrics: \"%s\"}\n", adminSocket(dir, p), at(p.ip, metricsPort))
	fmt.Fprintf(&b, "cdr: {path: %s}\nlog: {level: info, format: json}\nsip: {realm: demo.tandem.example}\n"+
		"drain: {announce: 0s, quiet: 0s, timeout: 0s}\n",
		filepath.Join(dir, p.name, "cdr.jsonl"))
	return b.String()
}

func adminSocket(dir string, p place) string { return filepath.Join(dir, p.name+".sock") }

// writeFiles lays the stage out in dir and returns the path of each node's
// file.
func writeFiles(dir string, key []byte, via map[string]string) (map[string]string, error) {
	files := map[string]string{}
	write := func(name, text string) (string, error) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("demo: %w", err)
		}
		return path, nil
	}
	if _, err := write("cluster.key", string(key)); err != nil {
		return nil, err
	}
	if _, err := write("cluster.yaml", document()); err != nil {
		return nil, err
	}
	for _, p := range places {
		path, err := write(p.name+".yaml", nodeFile(dir, p, via))
		if err != nil {
			return nil, err
		}
		files[p.name] = path
	}
	return files, nil
}
