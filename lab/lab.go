package lab

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/lab/netns"
	"github.com/tandem-sbc/tandem/lab/wan"
)

// WANDelay is the one-way delay between two sites at the start: a round trip
// Dallas to Ashburn takes about 30 ms.
const WANDelay = 15 * time.Millisecond

// Lab is a built laboratory. Its methods may be called by many goroutines.
type Lab struct {
	// Prefix begins the name of each of the Lab's namespaces.
	Prefix string
	// Dir receives the log of every program that is started.
	Dir string

	lock    *os.File
	spaces  map[string]*netns.Namespace
	links   map[[2]string]*wan.Link
	spawner *spawner

	mu        sync.Mutex
	processes []*Process
	blackhole map[Place]map[string]bool
	closed    bool
}

// New builds the laboratory. Programs' logs go to dir, which must exist. seed
// makes the WAN links' losses repeatable. On an error nothing is left behind.
func New(dir string, seed uint64) (*Lab, error) {
	prefix, lock, err := claim()
	if err != nil {
		return nil, err
	}
	l := &Lab{
		Prefix: prefix, Dir: dir, lock: lock,
		spaces: map[string]*netns.Namespace{}, links: map[[2]string]*wan.Link{},
		blackhole: map[Place]map[string]bool{}, spawner: newSpawner(),
	}
	if err := l.build(seed); err != nil {
		return nil, errors.Join(fmt.Errorf("build laboratory %s: %w", prefix, err), l.Close())
	}
	return l, nil
}

// build makes namespaces, then the sites, the far ends and the WAN links.
func (l *Lab) build(seed uint64) error {
	for _, step := range []func() error{l.addNamespaces, l.joinSites, l.joinFarEnds} {
		if err := step(); err != nil {
			return err
		}
	}
	for i, pair := range [][2]string{{Dallas, Ashburn}, {Dallas, Witness}, {Ashburn, Witness}} {
		if err := l.joinWAN(i, pair, seed); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lab) addNamespaces() error {
	names := []string{internet, router(Dallas), router(Ashburn), router(Witness)}
	for _, n := range nodes {
		names = append(names, string(n.place))
	}
	for _, p := range farEnds {
		names = append(names, string(p))
	}
	for _, name := range names {
		ns, err := netns.Add(l.Prefix + "-" + name)
		if err != nil {
			return err
		}
		l.spaces[name] = ns
	}
	for _, name := range names[:4] {
		if err := l.spaces[name].Forward(); err != nil {
			return err
		}
	}
	return nil
}

// router is the name of a site's router namespace.
func router(site string) string { return site + "-rt" }

// joinSites gives each site a bridge with its nodes on it, and a way to the
// internet router.
func (l *Lab) joinSites() error {
	for i, site := range []string{Dallas, Ashburn, Witness} {
		net := networks[site]
		rt := l.spaces[router(site)]
		if err := rt.Bridge("br0", net.with4(1), net.with6(1)); err != nil {
			return err
		}
		if err := l.uplink(rt, i, net); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		net, ns := networks[n.site], l.spaces[string(n.place)]
		err := netns.Join(
			netns.End{Namespace: ns, Interface: "eth0", Addresses: []string{net.with4(n.host), net.with6(n.host)}},
			netns.End{Namespace: l.spaces[router(n.site)], Interface: string(n.place), Bridge: "br0"})
		if err != nil {
			return err
		}
		if err := defaultRoute(ns, net.v4(1).String(), net.v6(1).String()); err != nil {
			return err
		}
	}
	return nil
}

// joinFarEnds gives each far-end place its addresses and a way to the internet
// router.
func (l *Lab) joinFarEnds() error {
	for i, p := range farEnds {
		net, ns := networks[string(p)], l.spaces[string(p)]
		var lines []string
		for host := FirstHost; host <= LastHost; host++ {
			lines = append(lines,
				fmt.Sprintf("addr add %s/32 dev lo", net.v4(host)),
				fmt.Sprintf("addr add %s/128 dev lo nodad", net.v6(host)))
		}
		if err := ns.IP(lines...); err != nil {
			return err
		}
		if err := l.uplink(ns, 10+i, net); err != nil {
			return err
		}
		err := ns.IP(
			fmt.Sprintf("route change default via %s src %s", network{90, 10 + i}.v4(1), net.v4(DefaultHost)),
			fmt.Sprintf("route change default via %s src %s", network{90, 10 + i}.v6(1), net.v6(DefaultHost)))
		if err != nil {
			return err
		}
	}
	return nil
}

// uplink joins ns to the internet router by link number n and routes the
// network behind it.
func (l *Lab) uplink(ns *netns.Namespace, n int, behind network) error {
	link := network{90, n}
	inet := l.spaces[internet]
	name := fmt.Sprintf("up%d", n)
	err := netns.Join(
		netns.End{Namespace: ns, Interface: name, Addresses: []string{link.with4(2), link.with6(2)}},
		netns.End{Namespace: inet, Interface: name, Addresses: []string{link.with4(1), link.with6(1)}})
	if err != nil {
		return err
	}
	err = inet.IP(
		fmt.Sprintf("route add %s via %s", behind.cidr4(), link.v4(2)),
		fmt.Sprintf("route add %s via %s", behind.cidr6(), link.v6(2)))
	if err != nil {
		return err
	}
	return defaultRoute(ns, link.v4(1).String(), link.v6(1).String())
}

// joinWAN opens the emulated link between two sites. Their traffic has only
// this way: the sites' routers prefer it to the internet, cut or not.
func (l *Lab) joinWAN(i int, pair [2]string, seed uint64) error {
	link := network{89, i}
	var ends [2]netns.End
	for side, site := range pair {
		ends[side] = netns.End{
			Namespace: l.spaces[router(site)], Interface: "wan-" + pair[1-side],
			Addresses: []string{link.with4(1 + side), link.with6(1 + side)},
		}
	}
	w, err := wan.Open(ends[0], ends[1], wan.Shape{Delay: WANDelay}, seed+uint64(i)*2)
	if err != nil {
		return err
	}
	l.links[pair] = w
	for side := range pair {
		other := networks[pair[1-side]]
		err := ends[side].Namespace.IP(
			fmt.Sprintf("route add %s dev %s", other.cidr4(), ends[side].Interface),
			fmt.Sprintf("route add %s dev %s", other.cidr6(), ends[side].Interface))
		if err != nil {
			return err
		}
	}
	return nil
}

func defaultRoute(ns *netns.Namespace, v4, v6 string) error {
	return ns.IP("route add default via "+v4, "route add default via "+v6)
}

// Isolate adds a place that has nothing but its loopback.
func (l *Lab) Isolate(p Place) error {
	ns, err := netns.Add(l.Prefix + "-" + string(p))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spaces[string(p)] = ns
	return nil
}

// Namespace returns the namespace of a place.
func (l *Lab) Namespace(p Place) *netns.Namespace {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spaces[string(p)]
}

// WAN returns the link between two sites and the direction from a to b.
func (l *Lab) WAN(a, b string) (*wan.Link, wan.Direction) {
	if w := l.links[[2]string{a, b}]; w != nil {
		return w, wan.AToB
	}
	return l.links[[2]string{b, a}], wan.BToA
}

// CutSite cuts every WAN link of a site, both ways; its far ends stay reachable.
func (l *Lab) CutSite(site string) { l.eachLink(site, func(w *wan.Link) { w.Cut(wan.Both) }) }

// HealSite ends CutSite.
func (l *Lab) HealSite(site string) { l.eachLink(site, func(w *wan.Link) { w.Heal(wan.Both) }) }

func (l *Lab) eachLink(site string, do func(*wan.Link)) {
	for pair, w := range l.links {
		if pair[0] == site || pair[1] == site {
			do(w)
		}
	}
}

// BlackHole makes the host at a far-end place swallow every packet sent to the
// address, without an ICMP answer; Restore ends it.
func (l *Lab) BlackHole(p Place, address string) error { return l.setBlackHole(p, address, true) }

// Restore ends BlackHole.
func (l *Lab) Restore(p Place, address string) error { return l.setBlackHole(p, address, false) }

func (l *Lab) setBlackHole(p Place, address string, on bool) error {
	return l.setDrop(p, fmt.Sprintf("%s daddr %s drop", family(address), address), on)
}

// Deafen makes the host at a far-end place swallow what comes from one address for
// another one of its own; Undeafen ends it.
func (l *Lab) Deafen(p Place, from, to string) error {
	return l.setDrop(p, fmt.Sprintf("%s saddr %s %s daddr %s drop", family(from), from, family(to), to), true)
}

// Undeafen ends Deafen.
func (l *Lab) Undeafen(p Place, from, to string) error {
	return l.setDrop(p, fmt.Sprintf("%s saddr %s %s daddr %s drop", family(from), from, family(to), to), false)
}

func family(address string) string {
	if isIPv6(address) {
		return "ip6"
	}
	return "ip"
}

func (l *Lab) setDrop(p Place, rule string, on bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.blackhole[p] == nil {
		l.blackhole[p] = map[string]bool{}
	}
	l.blackhole[p][rule] = on
	var rules strings.Builder
	for rule, on := range l.blackhole[p] {
		if on {
			fmt.Fprintf(&rules, "    %s\n", rule)
		}
	}
	return l.spaces[string(p)].NFT("table inet lab\ndelete table inet lab\ntable inet lab {\n  chain in {\n" +
		"    type filter hook input priority 0;\n" + rules.String() + "  }\n}\n")
}
