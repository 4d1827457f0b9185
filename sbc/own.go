package sbc

import (
	"net"
	"net/netip"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// hosts are what calls to this node may name: its addresses, its realm and what
// its configuration adds.
func (s *Server) hosts() map[string]struct{} {
	hosts := make(map[string]struct{})
	for i := range s.cfg.Listeners {
		if a := s.set.Addr(i).Addr(); a.IsValid() && !a.IsUnspecified() {
			hosts[b2bua.HostOf(a)] = struct{}{}
		}
	}
	if s.cfg.Realm != "" {
		hosts[strings.ToLower(s.cfg.Realm)] = struct{}{}
	}
	for _, h := range s.cfg.Domains {
		hosts[h] = struct{}{}
	}
	return hosts
}

// own are the addresses of this node's UDP listeners. A datagram that claims to
// come from one of them is forged, or came back: answered, it would go round
// for ever or be ours to answer again.
type own map[netip.AddrPort]struct{}

// newOwn makes the set when the listeners are bound.
func (s *Server) newOwn() own {
	o := make(own)
	for i, l := range s.cfg.Listeners {
		if l.Transport != trunkgroup.UDP {
			continue
		}
		at := s.set.Addr(i)
		for _, a := range addressesOf(at.Addr()) {
			o[netip.AddrPortFrom(a, at.Port())] = struct{}{}
		}
		if a, err := netip.ParseAddrPort(l.Advertise); err == nil {
			o[netip.AddrPortFrom(a.Addr().Unmap(), a.Port())] = struct{}{}
		}
	}
	return o
}

// addressesOf are the addresses that a bound one stands for.
func addressesOf(bound netip.Addr) []netip.Addr {
	if !bound.IsUnspecified() {
		return []netip.Addr{bound.Unmap()}
	}
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var addrs []netip.Addr
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			addrs = append(addrs, p.Addr().Unmap())
		}
	}
	return addrs
}

// foreignOnly drops what claims to come from this node itself.
func (s *Server) foreignOnly(batch []transport.Packet) []transport.Packet {
	n := 0
	for i := range batch {
		if s.own.sent(batch[i].Transport, batch[i].Source) {
			s.observer.Count(b2bua.Event{Kind: b2bua.EventLoop, Reason: "own_address"})
			continue
		}
		if n != i {
			batch[n] = batch[i]
		}
		n++
	}
	return batch[:n]
}

// sent tells whether a datagram claims to come from this node itself.
func (o own) sent(t trunkgroup.Transport, source netip.AddrPort) bool {
	if t != trunkgroup.UDP {
		return false
	}
	_, ok := o[netip.AddrPortFrom(source.Addr().Unmap(), source.Port())]
	return ok
}
