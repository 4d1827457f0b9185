package lab

import (
	"fmt"
	"net/netip"
	"strings"
)

// The sites of the laboratory. The witness stands in a place of its own.
const (
	Dallas  = "dallas"
	Ashburn = "ashburn"
	Witness = "witness"
)

// Place is a namespace in which programs run: a node's machine or a network of
// far ends.
type Place string

// The places of every Lab.
const (
	Dallas1        Place = "dallas-1"
	Dallas2        Place = "dallas-2"
	Ashburn1       Place = "ashburn-1"
	Ashburn2       Place = "ashburn-2"
	Witness1       Place = "witness-1"
	PBXDallas      Place = "pbx-dallas"
	PBXAshburn     Place = "pbx-ashburn"
	CarrierDallas  Place = "carrier-dallas"
	CarrierAshburn Place = "carrier-ashburn"
	Outside        Place = "outside"
)

// routers are the namespaces that only forward; internet joins the sites'
// routers and the far ends, never site to site.
const internet = "internet"

// Hosts of a far-end network: each of the addresses FirstHost to LastHost is
// configured in its namespace, so that many far ends run in one. A program that
// binds no address of its own sends from DefaultHost's.
const (
	FirstHost   = 10
	LastHost    = 49
	DefaultHost = 40
)

// network is an IPv4 /24 and an IPv6 /64 of one place or site.
type network struct{ a, b int }

// networks gives every site and far-end place its own network.
var networks = map[string]network{
	Dallas: {91, 1}, Ashburn: {91, 2}, Witness: {91, 3},
	string(PBXDallas): {92, 1}, string(PBXAshburn): {92, 2},
	string(CarrierDallas): {93, 1}, string(CarrierAshburn): {93, 2},
	string(Outside): {94, 1},
}

// nodes are the places of each site and their host numbers.
var nodes = []struct {
	place Place
	site  string
	host  int
}{
	{Dallas1, Dallas, 11},
	{Dallas2, Dallas, 12},
	{Ashburn1, Ashburn, 11},
	{Ashburn2, Ashburn, 12},
	{Witness1, Witness, 11},
}

// farEnds are the places reached over the internet router.
var farEnds = []Place{PBXDallas, PBXAshburn, CarrierDallas, CarrierAshburn, Outside}

// v4 and v6 are the addresses of a host of the network.
func (n network) v4(host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n.a), byte(n.b), byte(host)})
}

func (n network) v6(host int) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf("fd%02d::%d:%d", n.a, n.b, host))
}

// cidr4 and cidr6 are the network in prefix notation; the v6 network is a /112.
func (n network) cidr4() string { return netip.PrefixFrom(n.v4(0), 24).String() }

func (n network) cidr6() string {
	return netip.PrefixFrom(netip.MustParseAddr(fmt.Sprintf("fd%02d::%d:0", n.a, n.b)), 112).String()
}

// with4 and with6 are a host's address in prefix notation.
func (n network) with4(host int) string { return netip.PrefixFrom(n.v4(host), 24).String() }
func (n network) with6(host int) string { return netip.PrefixFrom(n.v6(host), 112).String() }

// NodeSite returns the site of a node's place, empty for other places.
func NodeSite(p Place) string {
	for _, n := range nodes {
		if n.place == p {
			return n.site
		}
	}
	return ""
}

// SiteOf returns the site that an address of a node belongs to, empty for others.
func SiteOf(a netip.Addr) string {
	for _, n := range nodes {
		if a == networks[n.site].v4(n.host) || a == networks[n.site].v6(n.host) {
			return n.site
		}
	}
	return ""
}

// Node4 is the IPv4 address of a node's place.
func Node4(p Place) netip.Addr { return nodeAddr(p, network.v4) }

// Node6 is the IPv6 address of a node's place.
func Node6(p Place) netip.Addr { return nodeAddr(p, network.v6) }

func nodeAddr(p Place, family func(network, int) netip.Addr) netip.Addr {
	for _, n := range nodes {
		if n.place == p {
			return family(networks[n.site], n.host)
		}
	}
	return netip.Addr{}
}

// Host4 is the IPv4 address of a host, FirstHost to LastHost, of a far-end place.
func Host4(p Place, host int) netip.Addr { return networks[string(p)].v4(host) }

// Host6 is the IPv6 address of a host of a far-end place.
func Host6(p Place, host int) netip.Addr { return networks[string(p)].v6(host) }

// isIPv6 tells the family of an address written in prefix notation.
func isIPv6(address string) bool { return strings.Contains(address, ":") }
