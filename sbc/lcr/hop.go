package lcr

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// HopName is the host of a next hop that is still to be resolved. It is comparable.
type HopName struct {
	Name      string // lower case
	Port      uint16 // 0: the service record of the name says, else the transport's default
	Transport trunkgroup.Transport
}

// NextHop reads where a route leads that leaves the choice to no group: its next_hop, or
// else the host of its ruri (S-071). Either it is an address, or a name; ok is false for
// a route that has neither or leads through a group alone. An error says what is wrong
// with the text.
func NextHop(r *trunkgroup.CarrierRoute) (hop trunkgroup.Hop, name HopName, ok bool, err error) {
	field, text := "next_hop", r.NextHop
	if text == "" && r.GatewayGroup == "" {
		field, text = "ruri", r.RURI
	}
	if text == "" {
		return hop, name, false, nil
	}
	host, port, proto, err := readHop(text)
	if err != nil {
		return hop, name, false, fmt.Errorf("%s: %w", field, err)
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if port == 0 {
			port = proto.DefaultPort()
		}
		return trunkgroup.Hop{Addr: netip.AddrPortFrom(addr.Unmap().WithZone(""), port), Transport: proto}, name, true, nil
	}
	return hop, HopName{Name: strings.ToLower(strings.TrimSuffix(host, ".")), Port: port, Transport: proto}, true, nil
}

var (
	errHost      = errors.New("names no host")
	errPort      = errors.New("has a port that is none")
	errTransport = errors.New("has a transport that is none of udp, tcp, tls")
	errScheme    = errors.New("is no sip or sips URI")
)

// readHop reads host, host:port, [IPv6]:port, each with parameters like ;transport=tcp
// behind it, or a SIP URI.
func readHop(s string) (host string, port uint16, proto trunkgroup.Transport, err error) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">")
	secure := false
	if scheme, rest, found := strings.Cut(s, ":"); found && isScheme(scheme) {
		switch strings.ToLower(scheme) {
		case "sip":
		case "sips":
			secure = true
		default:
			return "", 0, 0, errScheme
		}
		s = rest
	}
	s, _, _ = strings.Cut(s, "?")
	// The user may hold a ";", the host may not.
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		s = s[at+1:]
	}
	s, params, _ := strings.Cut(s, ";")
	if host, port, err = readHostPort(s); err != nil {
		return "", 0, 0, err
	}
	proto = trunkgroup.UDP
	if secure {
		proto = trunkgroup.TLS
	}
	for p := range strings.SplitSeq(params, ";") {
		key, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(key, "transport") {
			continue
		}
		t, err := trunkgroup.ParseTransport(strings.ToLower(value))
		if err != nil || t != trunkgroup.UDP && t != trunkgroup.TCP && t != trunkgroup.TLS {
			return "", 0, 0, errTransport
		}
		if !secure {
			proto = t
		}
	}
	return host, port, proto, nil
}

// isScheme tells a scheme from a host that is followed by a port.
func isScheme(s string) bool {
	return slices.Contains([]string{"sip", "sips", "tel", "http", "https", "urn", "mailto"}, strings.ToLower(s))
}

func readHostPort(s string) (host string, port uint16, err error) {
	host = s
	text := ""
	hasPort := false
	if strings.HasPrefix(s, "[") {
		inside, rest, closed := strings.Cut(s[1:], "]")
		if addr, err := netip.ParseAddr(inside); err != nil || !closed || !addr.Is6() || rest != "" && rest[0] != ':' {
			return "", 0, errHost
		}
		host = inside
		if rest != "" {
			text, hasPort = rest[1:], true
		}
	} else if strings.Count(s, ":") < 2 { // more is an IPv6 address without brackets
		host, text, hasPort = strings.Cut(s, ":")
	}
	if hasPort {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return "", 0, errPort
		}
		port = uint16(n)
	}
	if _, err := netip.ParseAddr(host); err != nil && !isHostName(host) {
		return "", 0, errHost
	}
	return host, port, nil
}

// isHostName judges a name of RFC 1123, with "_" as some carriers have it. One that ends
// in digits alone is a broken address.
func isHostName(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
				return false
			}
		}
		last = label
	}
	return strings.Trim(last, "0123456789") != ""
}

// Names lists the hosts that an answer needs, each once. What cannot be read is noted,
// and the route is not reachable.
func (a *Answer) Names() []HopName {
	var list []HopName
	for i := range a.Set.Routes {
		r := &a.Set.Routes[i]
		hop, name, ok, err := NextHop(r)
		switch {
		case err != nil:
			a.note(r.CarrierID, "%v", err)
		case ok && name.Name == "":
			r.Hops = []trunkgroup.Hop{hop}
		case ok && !slices.Contains(list, name):
			list = append(list, name)
		}
	}
	return list
}

// Resolve returns the set with the hops of its names as addresses says; the set itself
// stays as it is.
func Resolve(set *trunkgroup.RouteSet, addresses func(HopName) []netip.AddrPort) *trunkgroup.RouteSet {
	out := *set
	out.Routes = slices.Clone(set.Routes)
	for i := range out.Routes {
		r := &out.Routes[i]
		_, name, ok, err := NextHop(r)
		if err != nil || !ok || name.Name == "" {
			continue
		}
		r.Hops = nil
		for _, addr := range addresses(name) {
			r.Hops = append(r.Hops, trunkgroup.Hop{Addr: addr, Transport: name.Transport, Name: name.Name})
		}
	}
	return &out
}
