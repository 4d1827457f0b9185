# Names, sites, nodes and ports that are wrong, one at a time: each is refused by its variable.
variables {
  cluster = { id = "example", realm = "sip.example.net" }
  sites   = { dallas = { peers = ["ashburn"] }, ashburn = { peers = ["dallas"] } }
  nodes = {
    dal-1     = { site = "dallas", address = "10.10.0.11" }
    ash-1     = { site = "ashburn", address = "10.20.0.11" }
    witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
  }
}

run "cluster_id" {
  command = plan
  variables {
    cluster = { id = "Example_1", realm = "sip.example.net" }
  }
  expect_failures = [var.cluster]
}

run "cluster_realm_empty" {
  command = plan
  variables {
    cluster = { id = "example", realm = " " }
  }
  expect_failures = [var.cluster]
}

run "cluster_realm_with_quotes" {
  command = plan
  variables {
    cluster = { id = "example", realm = "a\"b" }
  }
  expect_failures = [var.cluster]
}

run "cluster_domain_with_port" {
  command = plan
  variables {
    cluster = { id = "example", realm = "-", domains = ["sip.example.com:5060"] }
  }
  expect_failures = [var.cluster]
}

run "cluster_dns_with_dot_at_its_end" {
  command = plan
  variables {
    cluster = { id = "example", realm = "-", dns = "sip.example.net." }
  }
  expect_failures = [var.cluster]
}

run "no_sites" {
  command = plan
  variables {
    sites = {}
  }
  expect_failures = [var.sites]
}

run "site_name" {
  command = plan
  variables {
    sites = { Dallas = {}, ashburn = {} }
  }
  expect_failures = [var.sites]
}

run "peer_that_is_no_site" {
  command = plan
  variables {
    sites = { dallas = { peers = ["ashbrun"] }, ashburn = {} }
  }
  expect_failures = [var.sites]
}

run "site_is_its_own_peer" {
  command = plan
  variables {
    sites = { dallas = { peers = ["dallas"] }, ashburn = {} }
  }
  expect_failures = [var.sites]
}

run "peer_twice" {
  command = plan
  variables {
    sites = { dallas = { peers = ["ashburn", "ashburn"] }, ashburn = {} }
  }
  expect_failures = [var.sites]
}

run "site_priority" {
  command = plan
  variables {
    sites = { dallas = { priority = 70000 }, ashburn = {} }
  }
  expect_failures = [var.sites]
}

run "no_nodes" {
  command = plan
  variables {
    nodes = {}
  }
  expect_failures = [var.nodes]
}

run "node_name" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
      Dal_2     = { site = "dallas", address = "10.10.0.12" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_role" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", role = "proxy" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_address_with_port" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11:5060" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_address_of_five_parts" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11.1" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_sip_address_is_a_name" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", sip_address = "dal-1.example.net" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_address_is_every_address" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "0.0.0.0" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "public_address_is_every_address" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", public_address = "0.0.0.0" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "address_twice" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
      dal-2     = { site = "dallas", address = "10.10.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "public_address_twice" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", public_address = "192.0.2.1" }
      ash-1     = { site = "ashburn", address = "10.20.0.11", public_address = "192.0.2.1" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "public_name_is_one_word" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", public_name = "dal-1" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_weight" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", weight = 65536 }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_weight_is_broken" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", weight = 0.5 }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "peers" {
  command = plan
  variables {
    peers = "some"
  }
  expect_failures = [var.peers]
}

run "port_out_of_bounds" {
  command = plan
  variables {
    ports = { sip = 0 }
  }
  expect_failures = [var.ports]
}

run "port_twice" {
  command = plan
  variables {
    ports = { sip = 5060, gossip = 5060 }
  }
  expect_failures = [var.ports]
}
