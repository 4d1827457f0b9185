package lab

import (
	"fmt"
	"net/netip"

	"github.com/tandem-sbc/tandem/lab/netns"
)

// private is the network behind every NAT, the same one everywhere.
var private = network{99, 1}

// Behind4 is the IPv4 address of a host, FirstHost to LastHost, behind a NAT.
func Behind4(host int) netip.Addr { return private.v4(host) }

// BehindNAT adds a place behind a NAT at a far-end place: what it sends over IPv4
// comes from one host's address there, and only what that one has been asked for
// gets in. Packets from another address or port than the one that was sent to find
// no way (RFC 4787: address- and port-dependent filtering).
func (l *Lab) BehindNAT(p, at Place, host int) error {
	inside, err := netns.Add(l.Prefix + "-" + string(p))
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.spaces[string(p)] = inside
	outside := l.spaces[string(at)]
	l.mu.Unlock()
	if outside == nil {
		return fmt.Errorf("nat of %s: no place %q", p, at)
	}
	addresses := make([]string, 0, LastHost-FirstHost+1)
	for h := FirstHost; h <= LastHost; h++ {
		addresses = append(addresses, private.with4(h))
	}
	err = netns.Join(
		netns.End{Namespace: inside, Interface: "eth0", Addresses: addresses},
		netns.End{Namespace: outside, Interface: string(p), Addresses: []string{private.with4(1)}})
	if err != nil {
		return err
	}
	if err := inside.IP("route add default via " + private.v4(1).String()); err != nil {
		return err
	}
	if err := outside.Forward(); err != nil {
		return err
	}
	// Two minutes, as RFC 4787 asks for; short exchanges get 30 s by default.
	if err := outside.Sysctl(map[string]string{"net.netfilter.nf_conntrack_udp_timeout": "120"}); err != nil {
		return err
	}
	return outside.NFT(fmt.Sprintf("table ip nat {\n  chain out {\n    type nat hook postrouting priority 100;\n"+
		"    ip saddr %s oifname \"up*\" snat to %s\n  }\n}\n", private.cidr4(), networks[string(at)].v4(host)))
}
