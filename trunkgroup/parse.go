package trunkgroup

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// parseAddress reads 198.51.100.10:5060, [2001:db8::1]:5060, or the same
// without port.
func parseAddress(s string, transport Transport) (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(s)
	if err != nil {
		ip, port := s, transport.DefaultPort()
		if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
			ip = s[1 : len(s)-1]
		} else if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
			return netip.AddrPort{}, fmt.Errorf("IPv6 address %q is not in brackets", s)
		}
		bare, err := netip.ParseAddr(ip)
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("%q is not an address and port", s)
		}
		addr = netip.AddrPortFrom(bare, port)
	}
	ip := addr.Addr().Unmap()
	switch {
	case addr.Port() == 0:
		return netip.AddrPort{}, fmt.Errorf("%q has port 0", s)
	case ip.IsUnspecified() || ip.IsMulticast():
		return netip.AddrPort{}, fmt.Errorf("%s is not the address of one host", ip)
	}
	return netip.AddrPortFrom(ip, addr.Port()), nil
}

// parseFQDN reads a host name with or without port. Port 0 means that SRV
// records tell it.
func parseFQDN(s string) (host string, port uint16, err error) {
	host, text, found := strings.Cut(s, ":")
	if found {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return "", 0, fmt.Errorf("%q has no valid port after the colon", s)
		}
		port = uint16(n)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return "", 0, fmt.Errorf("%q is an address", s)
	}
	return host, port, checkHost(host)
}

// checkHost applies RFC 1123 section 2.1 to a host name.
func checkHost(host string) error {
	if host == "" || len(host) > 253 {
		return errors.New("a host name has 1 to 253 characters")
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return fmt.Errorf("%q is not a host name", host)
		}
		for i := range len(label) {
			if !isAlnum(label[i]) && label[i] != '-' && label[i] != '_' {
				return fmt.Errorf("%q is not a host name", host)
			}
		}
	}
	return nil
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// parseNetwork reads an address or a CIDR.
func parseNetwork(s string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(s); err == nil {
		ip = ip.Unmap().WithZone("")
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("%q is not an address or CIDR", s)
	case p.Addr().Is4In6():
		return netip.Prefix{}, fmt.Errorf("%q is an IPv4 network in IPv6 form", s)
	case p.Masked() != p:
		return netip.Prefix{}, fmt.Errorf("%q has host bits set; the network is %s", s, p.Masked())
	case p.Bits() == 0:
		return netip.Prefix{}, fmt.Errorf("%q is everybody", s)
	}
	return p, nil
}

// tuple returns the identity of a source in the index.
func (s SourceSpec) tuple() (sourceTuple, bool) {
	network, err := parseNetwork(s.IP)
	if err != nil {
		return sourceTuple{}, false
	}
	t := sourceTuple{network: network, transport: cmp.Or(s.Transport, UDP), techPrefix: s.TechPrefix}
	if s.Port > 1 { // P-26: 1 means any
		t.port = uint16(s.Port)
	}
	if s.Local != "" {
		if t.local, err = parseAddress(s.Local, t.transport); err != nil {
			return sourceTuple{}, false
		}
	}
	return t, true
}

// index writes a path element: name[i].
func index(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }
