package dialmap

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Rule says that Address is reached by dialling Via. Both are "host:port".
type Rule struct {
	Address string
	Via     string
}

// Map is a compiled, immutable set of rules. The zero value maps nothing.
type Map struct {
	via map[string]string
}

// New compiles rules. It reports every faulty rule at once: an address that is
// not "host:port" with a port of 1..65535, and an address that is named twice.
func New(rules []Rule) (Map, error) {
	m := Map{via: make(map[string]string, len(rules))}
	var faults []error
	for i, r := range rules {
		address, err := canonical(r.Address)
		if err != nil {
			faults = append(faults, fmt.Errorf("dial_map[%d].address: %w", i, err))
		}
		via, err := canonical(r.Via)
		if err != nil {
			faults = append(faults, fmt.Errorf("dial_map[%d].via: %w", i, err))
		}
		if _, twice := m.via[address]; twice {
			faults = append(faults, fmt.Errorf("dial_map[%d].address: %q is mapped twice", i, r.Address))
		}
		m.via[address] = via
	}
	if len(faults) > 0 {
		return Map{}, errors.Join(faults...)
	}
	return m, nil
}

// Via returns the address to dial for address: the mapped one, or address
// itself when no rule names it.
func (m Map) Via(address string) string {
	if len(m.via) == 0 {
		return address
	}
	key, err := canonical(address)
	if err != nil {
		return address
	}
	if via, ok := m.via[key]; ok {
		return via
	}
	return address
}

// canonical gives the one spelling of a "host:port" under which rules are
// looked up, so that [::ffff:10.0.0.1]:80 and 10.0.0.1:80 are the same place.
func canonical(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%q is not host:port: %w", address, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", fmt.Errorf("%q has no port of 1..65535", address)
	}
	if host == "" {
		return "", fmt.Errorf("%q has no host", address)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(ip.Unmap(), uint16(n)).String(), nil
	}
	return net.JoinHostPort(host, strconv.FormatUint(n, 10)), nil
}
