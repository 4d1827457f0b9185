// Package netns makes named Linux network namespaces, joins them with veth
// pairs and bridges, and runs code and programs inside them.
//
// A namespace is a name under /run/netns, as `ip netns` keeps it, so that a
// person can enter one with `ip netns exec`. All link work is done by iproute2.
package netns
