# Variables that are refused, each with a reason.
variables {
  state_dir = "/var/tmp/tandem-lab"
}

run "an_id_that_begins_no_name" {
  command         = plan
  expect_failures = [var.id]
  variables {
    id = "Lab 1"
  }
}

run "a_relative_directory" {
  command         = plan
  expect_failures = [var.state_dir]
  variables {
    state_dir = "out/lab"
  }
}

run "a_directory_whose_sockets_have_too_long_paths" {
  command         = plan
  expect_failures = [var.state_dir]
  variables {
    state_dir = "/var/tmp/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789"
  }
}

run "a_program_without_its_path" {
  command         = plan
  expect_failures = [var.tandem]
  variables {
    tandem = "tandem"
  }
}

run "one_site" {
  command         = plan
  expect_failures = [var.sites]
  variables {
    sites    = { dallas = { octet = 1, code = "dal" } }
    founders = ["dal-1", "dal-2", "witness-1"]
  }
}

run "two_sites_with_one_octet" {
  command         = plan
  expect_failures = [var.sites]
  variables {
    sites = { dallas = { octet = 1, code = "dal" }, ashburn = { octet = 1, code = "ash" } }
  }
}

run "the_octet_of_the_witness" {
  command         = plan
  expect_failures = [var.sites]
  variables {
    sites = { dallas = { octet = 1, code = "dal" }, ashburn = { octet = 15, code = "ash" } }
  }
}

run "the_place_of_the_witness" {
  command         = plan
  expect_failures = [var.sites]
  variables {
    sites = { dallas = { octet = 1, code = "dal" }, ashburn = { octet = 2, code = "ash" }, iowa = { octet = 3, code = "iow" } }
  }
}

run "a_name_too_long_for_an_interface" {
  command         = plan
  expect_failures = [var.sites]
  variables {
    sites = { dallas-fort-worth = { octet = 1, code = "dal" }, ashburn = { octet = 2, code = "ash" } }
  }
}

run "a_site_without_nodes" {
  command         = plan
  expect_failures = [var.sites]
  variables {
    sites    = { dallas = { octet = 1, code = "dal", nodes = 0 }, ashburn = { octet = 2, code = "ash" } }
    founders = ["ash-1", "ash-2", "witness-1"]
  }
}

run "more_nodes_than_addresses" {
  command         = plan
  expect_failures = [var.nodes_per_site]
  variables {
    nodes_per_site = 10
  }
}

run "an_even_number_of_founders" {
  command         = plan
  expect_failures = [var.founders]
  variables {
    founders = ["dal-1", "ash-1", "dal-2", "witness-1"]
  }
}

run "no_witness" {
  command         = plan
  expect_failures = [var.founders]
  variables {
    founders = ["dal-1", "dal-2", "ash-1"]
  }
}

run "a_document_that_is_none" {
  command         = plan
  expect_failures = [var.document]
  variables {
    document = "sites: []"
  }
}

run "a_founder_that_is_not_there" {
  command         = plan
  expect_failures = [terraform_data.world]
  variables {
    nodes_per_site = 1
    founders       = ["dal-1", "ash-1", "ash-2", "dal-2", "witness-1"]
  }
}

run "a_document_of_another_cluster" {
  command         = plan
  expect_failures = [terraform_data.world]
  variables {
    document = "cluster: example"
  }
}

run "a_delay_that_no_wan_has" {
  command         = plan
  expect_failures = [var.wan_delay]
  variables {
    wan_delay = "1m"
  }
}
