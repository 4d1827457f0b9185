# Two sites of three nodes and a witness, as in docs/deploy.md.
variables {
  cluster = { id = "example", realm = "sip.example.net", domains = ["sip.example.com"], tls = false }
  sites   = { dallas = { peers = ["ashburn"] }, ashburn = { peers = ["dallas"], priority = 20 } }
  nodes = {
    dal-1     = { site = "dallas", address = "10.10.0.11", public_address = "192.0.2.11" }
    dal-2     = { site = "dallas", address = "10.10.0.12", public_address = "192.0.2.12" }
    dal-3     = { site = "dallas", address = "10.10.0.13", public_address = "192.0.2.13" }
    ash-1     = { site = "ashburn", address = "10.20.0.11", public_address = "198.51.100.11", weight = 50 }
    ash-2     = { site = "ashburn", address = "10.20.0.12", public_address = "198.51.100.12" }
    ash-3     = { site = "ashburn", address = "10.20.0.13", public_address = "198.51.100.13" }
    witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
  }
}

run "two_sites" {
  command = plan

  assert {
    condition     = output.voters == tolist(["ash-1", "ash-2", "dal-1", "dal-2", "witness-1"])
    error_message = "Two nodes of each site and the witness vote, not ${join(", ", output.voters)}."
  }
  assert {
    condition     = yamldecode(output.node_files["dal-1"]).listeners[0] == { name = "udp", transport = "udp", address = "10.10.0.11:5060", advertise = "192.0.2.11:5060" }
    error_message = "A listener binds the private address and shows the public one."
  }
  assert {
    condition     = !can(yamldecode(output.node_files["dal-3"]).cluster.raft) && length(yamldecode(output.node_files["dal-3"]).cluster.peers) == 5
    error_message = "A node without a vote names no voters and dials them all."
  }
  assert {
    condition     = yamldecode(output.node_files["witness-1"]).witness && !can(yamldecode(output.node_files["witness-1"]).listeners)
    error_message = "A witness has no listeners."
  }
}

# A further node that joins changes no other node's file and no vote.
run "one_more_node" {
  command = plan
  variables {
    cluster = { id = "example", realm = "sip.example.net", domains = ["sip.example.com"] }
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", public_address = "192.0.2.11" }
      dal-2     = { site = "dallas", address = "10.10.0.12", public_address = "192.0.2.12" }
      dal-3     = { site = "dallas", address = "10.10.0.13", public_address = "192.0.2.13" }
      dal-4     = { site = "dallas", address = "10.10.0.14", public_address = "192.0.2.14", join = true }
      ash-1     = { site = "ashburn", address = "10.20.0.11", public_address = "198.51.100.11", weight = 50 }
      ash-2     = { site = "ashburn", address = "10.20.0.12", public_address = "198.51.100.12" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }

  assert {
    condition     = output.voters == run.two_sites.voters
    error_message = "A further node does not vote."
  }
  assert {
    condition     = yamldecode(output.node_files["dal-1"]).cluster.peers == yamldecode(run.two_sites.node_files["dal-1"]).cluster.peers
    error_message = "Nodes that stand must not be given another file for a new one."
  }
  assert {
    condition     = join(" ", keys(output.secret_names["dal-4"])) == "join.token" && contains(keys(output.secret_names["dal-1"]), "cluster.key")
    error_message = "A node that joins fetches its token alone, the others key and certificate."
  }
}

run "srv_records" {
  command = plan

  assert {
    condition     = { for r in output.srv_records["_sip._udp.sip.example.net"] : r.target => [r.priority, r.weight, r.port] }["ash-1.sip.example.net."] == [20, 50, 5060]
    error_message = "The records of the cluster go by the priority of the site and the weight of the node."
  }
  assert {
    condition     = { for r in output.srv_records["_sip._tcp.ashburn.sip.example.net"] : r.target => r.priority } == { for n, p in { ash-1 = 10, ash-2 = 10, ash-3 = 10, dal-1 = 20, dal-2 = 20, dal-3 = 20 } : "${n}.sip.example.net." => p }
    error_message = "In the records of a site its own nodes come first, those of its peers next, and the witness not at all."
  }
  assert {
    condition     = output.a_records["dal-1.sip.example.net"] == "192.0.2.11" && !can(output.srv_records["_sips._tcp.sip.example.net"])
    error_message = "Targets stand for public addresses, and there is no record of a transport that nobody listens on."
  }
}

run "one_machine_ipv6_and_keys" {
  command = plan
  variables {
    cluster    = { id = "one", realm = "-" }
    sites      = { dallas = {} }
    nodes      = { dal-1 = { site = "dallas", address = "2001:db8::11", sip_address = "::" } }
    paths      = { etc = "/srv/{node}/etc", lib = "/srv/{node}/lib", run = "/srv/{node}/run" }
    ports      = { sip = 5070 }
    extra      = { log = { level = "debug", format = "text" }, cluster = { reload = "1s" } }
    node_extra = { dal-1 = { log = { level = "warn" } } }
  }

  assert {
    condition     = yamldecode(output.node_files["dal-1"]).listeners[0] == { name = "udp", transport = "udp", address = "[::]:5070", advertise = "[2001:db8::11]:5070" }
    error_message = "IPv6 addresses stand in brackets, and every address of a node shows a real one."
  }
  assert {
    condition     = yamldecode(output.node_files["dal-1"]).log == { level = "warn", format = "text" } && yamldecode(output.node_files["dal-1"]).cluster.reload == "1s" && yamldecode(output.node_files["dal-1"]).cluster.id == "one"
    error_message = "Further keys are merged into their sections, and those of a node win."
  }
  assert {
    condition     = yamldecode(output.contexts).contexts == [{ name = "dal-1", address = "unix:/srv/dal-1/run/admin.sock" }] && output.voters == tolist(["dal-1"])
    error_message = "Paths bear the name of the node."
  }
}

# Three sites need no witness: one of them may be lost.
run "three_sites" {
  command = plan
  variables {
    sites = { dallas = {}, ashburn = {}, austin = {} }
    nodes = {
      dal-1 = { site = "dallas", address = "10.10.0.11" }
      dal-2 = { site = "dallas", address = "10.10.0.12" }
      ash-1 = { site = "ashburn", address = "10.20.0.11" }
      ash-2 = { site = "ashburn", address = "10.20.0.12" }
      aus-1 = { site = "austin", address = "10.40.0.11" }
      aus-2 = { site = "austin", address = "10.40.0.12" }
    }
  }

  assert {
    condition     = output.voters == tolist(["ash-1", "aus-1", "dal-1"])
    error_message = "One node of each site votes, not ${join(", ", output.voters)}."
  }
}
