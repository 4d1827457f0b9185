# Variables that are good alone and wrong together, which the node files refuse.
variables {
  cluster = { id = "example", realm = "sip.example.net" }
  sites   = { dallas = { peers = ["ashburn"] }, ashburn = { peers = ["dallas"] } }
  nodes = {
    dal-1     = { site = "dallas", address = "10.10.0.11" }
    ash-1     = { site = "ashburn", address = "10.20.0.11" }
    witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
  }
}

run "node_at_no_site" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
      aus-1     = { site = "austin", address = "10.40.0.11" }
    }
  }
  expect_failures = [output.node_files]
}

run "site_without_nodes" {
  command = plan
  variables {
    sites = { dallas = {}, ashburn = {}, austin = {} }
  }
  expect_failures = [output.node_files]
}

run "even_votes" {
  command = plan
  variables {
    nodes = {
      dal-1 = { site = "dallas", address = "10.10.0.11" }
      ash-1 = { site = "ashburn", address = "10.20.0.11" }
    }
  }
  expect_failures = [output.node_files]
}

run "even_votes_chosen" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", voter = true }
      ash-1     = { site = "ashburn", address = "10.20.0.11", voter = true }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [output.node_files]
}

run "most_votes_in_one_site" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", voter = true }
      ash-1     = { site = "ashburn", address = "10.20.0.11", voter = true }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
      dal-2     = { site = "dallas", address = "10.10.0.12", voter = true }
    }
  }
  expect_failures = [output.node_files]
}

run "witness_at_a_site" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "dallas", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [output.node_files]
}

run "every_address_of_the_other_family" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", sip_address = "::" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [output.node_files]
}

run "node_extra_of_nobody" {
  command = plan
  variables {
    node_extra = { dal-9 = { log = { level = "debug" } } }
  }
  expect_failures = [output.node_files]
}

run "paths_half_apart" {
  command = plan
  variables {
    paths = { etc = "/srv/{node}/etc" }
  }
  expect_failures = [output.node_files]
}

run "joins_without_certificates" {
  command = plan
  variables {
    cluster = { id = "example", realm = "-", tls = false }
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
      dal-2     = { site = "dallas", address = "10.10.0.12", voter = false, join = true }
    }
  }
  expect_failures = [output.node_files]
}

run "remote_admin_without_certificates" {
  command = plan
  variables {
    cluster = { id = "example", realm = "-", tls = false }
    admin   = { remote = true }
  }
  expect_failures = [output.node_files]
}

run "joins_and_founds" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
      dal-2     = { site = "dallas", address = "10.10.0.12", join = true }
      ash-2     = { site = "ashburn", address = "10.20.0.12" }
    }
  }
  expect_failures = [output.node_files]
}
