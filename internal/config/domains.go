package config

import (
	"net/netip"
	"strings"
)

// domains reads hosts that calls may name, without port: names and addresses.
func (c *checker) domains(key string, list []string) []string {
	var out []string
	for i, host := range list {
		host = strings.ToLower(strings.Trim(host, "[]"))
		if a, err := netip.ParseAddr(host); err == nil {
			if host = a.Unmap().String(); a.Unmap().Is6() {
				host = "[" + host + "]"
			}
		} else if host == "" || strings.ContainsAny(host, ":/@ \t\"<>;?\\") {
			c.add(index(key, i), "write a name or an address without port, for example sip.example.net", "%q is not a host", list[i])
			continue
		}
		out = append(out, host)
	}
	return out
}
