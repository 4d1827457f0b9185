package netns

import "fmt"

// End is one end of a link: an interface name inside a namespace and the
// addresses in prefix notation that it gets.
type End struct {
	Namespace *Namespace
	Interface string
	Addresses []string
	// Bridge, when set, is the bridge that this end becomes a port of.
	Bridge string
}

// Join makes a veth pair between two namespaces and brings both ends up.
func Join(a, b End) error {
	pair := fmt.Sprintf("link add %s netns %s type veth peer name %s netns %s",
		a.Interface, a.Namespace.Name, b.Interface, b.Namespace.Name)
	if err := run(pair+"\n", "ip", "-batch", "-"); err != nil {
		return fmt.Errorf("join %s and %s: %w", a.Namespace.Name, b.Namespace.Name, err)
	}
	for _, e := range []End{a, b} {
		if err := e.Up(""); err != nil {
			return fmt.Errorf("join %s and %s: %w", a.Namespace.Name, b.Namespace.Name, err)
		}
	}
	return nil
}

// Up gives an existing interface the end's addresses and brings it up; flags
// are further words of `ip link set`, such as "mtu 1500".
func (e End) Up(flags string) error {
	lines := make([]string, 0, len(e.Addresses)+2)
	for _, a := range e.Addresses {
		// nodad: an IPv6 address is usable at once instead of after the probe.
		lines = append(lines, fmt.Sprintf("addr add %s dev %s%s", a, e.Interface, nodad(a)))
	}
	if e.Bridge != "" {
		lines = append(lines, fmt.Sprintf("link set %s master %s", e.Interface, e.Bridge))
	}
	lines = append(lines, fmt.Sprintf("link set %s up %s", e.Interface, flags))
	return e.Namespace.IP(lines...)
}

// Bridge makes a bridge inside the namespace with the addresses given.
func (n *Namespace) Bridge(name string, addresses ...string) error {
	lines := []string{fmt.Sprintf("link add %s type bridge forward_delay 0", name)}
	for _, a := range addresses {
		lines = append(lines, fmt.Sprintf("addr add %s dev %s%s", a, name, nodad(a)))
	}
	return n.IP(append(lines, fmt.Sprintf("link set %s up", name))...)
}

// Forward makes the namespace a router for IPv4 and IPv6.
func (n *Namespace) Forward() error {
	return n.Sysctl(map[string]string{
		"net.ipv4.ip_forward":          "1",
		"net.ipv6.conf.all.forwarding": "1",
	})
}

// nodad is the flag that an IPv6 address needs to be usable without delay.
func nodad(address string) string {
	for i := range len(address) {
		if address[i] == ':' {
			return " nodad"
		}
	}
	return ""
}
