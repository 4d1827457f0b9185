package config

import "time"

// cluster converts the section about the other nodes and checks that it agrees with the rest.
func (c *checker) cluster(f *file, interconnect Endpoint) Cluster {
	s := &f.Cluster
	out := Cluster{
		ID:       c.name("cluster.id", s.ID, "example"),
		TLS:      c.clusterTLS(&s.TLS),
		Reload:   c.duration("cluster.reload", s.Reload, 100*time.Millisecond, time.Hour),
		Gossip:   c.endpoint("cluster.gossip", s.Gossip.Address, s.Gossip.Advertise, "192.0.2.10:7946"),
		Document: c.path(s.Document),
	}
	c.clusterKeys(s, &out)
	names := map[string]string{f.Name: "name"}
	known := map[string]string{f.Name: interconnect.Advertise.String()}
	if s.Raft.Address != "" || s.Raft.Advertise != "" {
		out.Raft = c.endpoint("cluster.raft", s.Raft.Address, s.Raft.Advertise, "192.0.2.10:7951")
		known[f.Name] = out.Raft.Advertise.String()
	}
	for i, p := range s.Peers {
		key := index("cluster.peers", i)
		out.Peers = append(out.Peers, Peer{
			Name:         c.name(join(key, "name"), p.Name, "ash-1"),
			Site:         c.name(join(key, "site"), p.Site, "ashburn"),
			Gossip:       c.hostPort(join(key, "gossip"), p.Gossip, "198.51.100.10:7946"),
			Interconnect: c.hostPort(join(key, "interconnect"), p.Interconnect, "198.51.100.10:7950"),
		})
		c.unique(names, join(key, "name"), p.Name)
		known[p.Name] = p.Interconnect
	}
	out.Voters = c.voters(s.Raft.Voters, known)
	mapped := map[string]string{}
	for i, r := range s.DialMap {
		key := index("cluster.dial_map", i)
		out.DialMap = append(out.DialMap, DialRule{
			Address: c.hostPort(join(key, "address"), r.Address, "198.51.100.10:7950"),
			Via:     c.hostPort(join(key, "via"), r.Via, "203.0.113.1:17950"),
		})
		c.unique(mapped, join(key, "address"), r.Address)
	}
	return out
}

// voters converts the founding members. Known holds this node and its peers with the address that a
// voter has when the file gives none: where it takes the streams of other nodes.
func (c *checker) voters(list []fileVoter, known map[string]string) []Voter {
	var out []Voter
	seen := map[string]string{}
	for i, v := range list {
		key := index("cluster.raft.voters", i)
		c.unique(seen, join(key, "name"), c.name(join(key, "name"), v.Name, "dal-1"))
		address, ok := known[v.Name]
		if !ok && v.Name != "" {
			c.add(join(key, "name"), "add it to cluster.peers, or mend the name", "%q is neither this node nor a peer", v.Name)
		}
		if v.Address != "" {
			address = c.hostPort(join(key, "address"), v.Address, "192.0.2.10:7950")
		}
		out = append(out, Voter{Name: v.Name, Address: address})
	}
	return out
}

// clusterKeys takes the keys from their file or from the value, which the environment usually gives. The
// file has one key a line, the one to use first.
func (c *checker) clusterKeys(s *fileCluster, out *Cluster) {
	const remedy = "`tandem cluster key > FILE` makes one"
	text, key := s.Key, "cluster.key"
	switch {
	case s.Key != "" && s.KeyFile != "":
		c.add("cluster.key_file", "keep one of the two", "key and key_file are both set")
		return
	case s.Key == "" && s.KeyFile == "":
		c.add("cluster.key_file", remedy, "missing")
		return
	case s.KeyFile != "":
		var err error
		key, out.KeyFile = "cluster.key_file", c.path(s.KeyFile)
		if text, err = readSecret(out.KeyFile); err != nil {
			c.add(key, "name a file of mode 0600 that holds the key alone; "+remedy, "%v", err)
			return
		}
	}
	file, err := ParseKeyFile(text)
	if err != nil {
		c.add(key, remedy, "%v", err)
	}
	out.Keys, out.Seed = file.Keys, file.Seed
}
