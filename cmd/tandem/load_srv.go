package main

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// srvPatience bounds the look-ups of a name, before the first call.
const srvPatience = 10 * time.Second

// services are the SRV labels of each transport (RFC 3263 4.2).
var services = map[trunkgroup.Transport][2]string{
	trunkgroup.UDP: {"sip", "udp"}, trunkgroup.TCP: {"sip", "tcp"}, trunkgroup.TLS: {"sips", "tcp"},
}

// lookUp turns [transport:]name into the nodes of its SRV records, with their
// priorities and weights. server is the ip:port of a name server, or empty.
func lookUp(ctx context.Context, text, server string) ([]sim.Node, error) {
	transport, name := trunkgroup.UDP, text
	if word, after, ok := strings.Cut(text, ":"); ok {
		t, err := trunkgroup.ParseTransport(word)
		if err != nil || !t.Dialled() {
			return nil, usage("for example udp:sip.example.net", "%q is not [transport:]name", text)
		}
		transport, name = t, after
	}
	r := &net.Resolver{}
	if server != "" {
		r.PreferGo = true
		r.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, srvPatience)
	defer cancel()
	service := services[transport]
	_, records, err := r.LookupSRV(ctx, service[0], service[1], name)
	if err != nil {
		return nil, fail(exitFailed, "dig -t srv _sip._udp.example.net shows such records; --node takes addresses", "%s: %w", text, err)
	}
	var nodes []sim.Node
	for _, rec := range records {
		addrs, err := r.LookupNetIP(ctx, "ip", rec.Target)
		if err != nil {
			return nil, fail(exitFailed, "", "%s: %w", text, err)
		}
		ipv4 := slices.IndexFunc(addrs, func(a netip.Addr) bool { return a.Unmap().Is4() })
		nodes = append(nodes, sim.Node{
			Name: strings.TrimSuffix(rec.Target, "."), Addr: netip.AddrPortFrom(addrs[max(ipv4, 0)].Unmap(), rec.Port),
			Transport: transport, ServerName: name, Priority: rec.Priority, Weight: rec.Weight,
		})
	}
	return nodes, nil
}
