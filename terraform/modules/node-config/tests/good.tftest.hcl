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
