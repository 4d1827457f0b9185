// Package gossip spreads who is a member of the cluster and in which state, and
// carries small records from every node to every other one, by hashicorp/memberlist.
//
// # Purpose
//
// Membership tells which nodes exist, where they listen and what they say of
// themselves (Meta). Records are opaque octets under a key; each observer owns its
// own record of a key, so there is nothing to merge: of one observer's records the
// one with the higher (boot, sequence) wins (DEC-13). The package knows no domain
// type.
//
// # Not its purpose
//
// Gossip does not judge whether a node can take a call: a suspicion takes seconds
// and a partition heals late. Node loss for routing comes from the interconnect
// (DEC-21); a gossip "dead" is a hint. Nothing that must not be forged by a member
// (configuration, credentials) travels here.
//
// # Decisions and trade-offs
//
// One pool with LAN timings over all sites, not one per site and one across. A
// second pool would keep indirect probes off the WAN, which matters when gossip is
// the judge; here it is not. LAN timings suit the round trip between sites (probe
// timeout 500 ms against some 35 to 150 ms), WAN timings would only make the spread
// slower (39 s against 6 s to see a crash), and one pool is one port, one key and
// one list of seeds.
//
// Packets are sealed with AES-256-GCM under a key that is derived from the cluster
// secret, and carry the cluster's name as label: a node of another cluster, or
// without the key, is not heard. Compression is off: records are small and random.
//
// memberlist forgets a dead node after 30 s and then never dials it again, so a
// partition that lasts longer would stay for ever. While a configured seed is not a
// member, it is dialled every 10 s, and more often right after the start.
//
// Delivery: a new record goes out as a broadcast, is passed on by who first hears
// it, and the full set is exchanged with a random node every 30 s over TCP. A
// record that its observer does not renew for an hour is forgotten. Handlers of
// memberlist only enqueue; one goroutine decodes, merges and calls back.
package gossip
