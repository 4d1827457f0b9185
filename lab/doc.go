// Package lab builds Tandem's network laboratory on one machine: two sites of
// two nodes, a witness in a third place, the customers' and carriers' networks
// and the outside world, each a Linux network namespace of its own, with IPv4
// and IPv6 throughout.
//
// The sites are joined by user-space WAN links (package wan) whose delay, loss
// and cuts are set while traffic flows; everything else is veth pairs and
// bridges. Programs are started inside a namespace by New's Lab and are ended
// by process id; Close removes every process and every namespace that the Lab
// made and nothing else. A Lab whose owner was killed is swept by the next one
// (Sweep), recognised by a file lock that the owner no longer holds.
//
// The laboratory needs root, iproute2, nftables and /dev/net/tun. It opens no
// connection to anything outside its own namespaces.
package lab
