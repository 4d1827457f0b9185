# What is refused before anything is made. Each run spoils one thing of what two_sites.tftest.hcl has.

mock_provider "google" {}

variables {
  project = "acme-voice"
  cluster = { id = "example", realm = "sip.example.net" }
  package = {
    url    = "https://downloads.example.com/tandem_1.0.0_amd64.deb"
    sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
  }
  public_addresses = {
    dal-1 = "192.0.2.11", dal-2 = "192.0.2.12", dal-3 = "192.0.2.13"
    ash-1 = "198.51.100.11", ash-2 = "198.51.100.12", ash-3 = "198.51.100.13"
  }
}

run "project_with_capitals" {
  command = plan

  variables {
    project = "Acme Voice"
  }
  expect_failures = [var.project]
}

run "cluster_id_with_a_digit_first" {
  command = plan

  variables {
    cluster = { id = "2nd", realm = "sip.example.net" }
  }
  expect_failures = [var.cluster]
}

run "cluster_id_too_long" {
  command = plan

  variables {
    cluster = { id = "an-example-of-a-long-name", realm = "sip.example.net" }
  }
  expect_failures = [var.cluster]
}

run "realm_that_is_no_domain" {
  command = plan

  variables {
    cluster = { id = "example", realm = "Our PBX" }
  }
  expect_failures = [var.cluster]
}

run "dns_with_a_dot_at_its_end" {
  command = plan

  variables {
    cluster = { id = "example", realm = "sip.example.net", dns = "sip.example.net." }
  }
  expect_failures = [var.cluster]
}

run "one_site" {
  command = plan

  variables {
    sites = {
      dallas = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = [], nodes = ["dal-1", "dal-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "two_sites_in_a_region" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dal-2"] }
      ashburn = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "node_without_a_number" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dallas"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "node_with_number_0" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dal-0"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "two_nodes_with_one_number" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dallas-1"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "one_name_at_two_sites" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dal-2"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "dal-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "subnet_that_begins_in_the_middle" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.7/24", peers = ["ashburn"], nodes = ["dal-1", "dal-2"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "weight_of_a_node_elsewhere" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dal-2"], weights = { ash-1 = 10 } }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "subnet_too_small" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/26", peers = ["ashburn"], nodes = ["dal-1", "dal-2"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "zone_of_another_region" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-east1-b"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dal-2"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "site_without_zones" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = [], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dal-2"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.20.0.0/24", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.sites]
}

run "subnets_that_overlap" {
  command = plan

  variables {
    sites = {
      dallas  = { region = "us-south1", zones = ["us-south1-a"], cidr = "10.10.0.0/24", peers = ["ashburn"], nodes = ["dal-1", "dal-2"] }
      ashburn = { region = "us-east4", zones = ["us-east4-a"], cidr = "10.0.0.0/8", peers = ["dallas"], nodes = ["ash-1", "ash-2"] }
    }
  }
  expect_failures = [var.witness]
}

run "witness_at_a_site" {
  command = plan

  variables {
    witness = { zone = "us-east4-b" }
  }
  expect_failures = [var.witness]
}

run "witness_with_the_name_of_a_node" {
  command = plan

  variables {
    witness = { name = "dal-1" }
  }
  expect_failures = [var.witness]
}

run "witness_in_a_region_and_no_zone" {
  command = plan

  variables {
    witness = { zone = "us-central1" }
  }
  expect_failures = [var.witness]
}

run "witness_without_room" {
  command = plan

  variables {
    witness = { cidr = "10.30.0.0/29" }
  }
  expect_failures = [var.witness]
}

run "voter_that_is_not_there" {
  command = plan

  variables {
    voters = ["dal-1", "dal-9", "ash-1", "ash-2", "witness-1"]
  }
  expect_failures = [var.voters]
}

run "joining_node_that_is_not_there" {
  command = plan

  variables {
    joining = ["dal-4"]
  }
  expect_failures = [var.joining]
}

run "front_by_another_name" {
  command = plan

  variables {
    front = "haproxy"
  }
  expect_failures = [var.front]
}

run "address_that_is_none" {
  command = plan

  variables {
    public_addresses = { dal-1 = "192.0.2.300" }
  }
  expect_failures = [var.public_addresses]
}

run "address_given_twice" {
  command = plan

  variables {
    public_addresses = { dal-1 = "192.0.2.11", dal-2 = "192.0.2.11" }
  }
  expect_failures = [var.public_addresses]
}

run "zone_of_dns_as_a_domain" {
  command = plan

  variables {
    dns_zone = "sip.example.net"
  }
  expect_failures = [var.dns_zone]
}

run "records_that_nobody_keeps" {
  command = plan

  variables {
    dns_ttl = 5
  }
  expect_failures = [var.dns_ttl]
}

run "access_that_is_no_network" {
  command = plan

  variables {
    access = { sip = ["carrier.example.com"] }
  }
  expect_failures = [var.access]
}

run "ssh_from_everywhere" {
  command = plan

  variables {
    access = { ssh = ["0.0.0.0/0"] }
  }
  expect_failures = [var.access]
}

run "admin_from_everywhere" {
  command = plan

  variables {
    access = { admin = ["::/0"] }
  }
  expect_failures = [var.access]
}

run "package_by_plain_http" {
  command = plan

  variables {
    package = {
      url    = "http://downloads.example.com/tandem.deb"
      sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
    }
  }
  expect_failures = [var.package]
}

run "package_without_a_sum" {
  command = plan

  variables {
    package = {
      url    = "https://downloads.example.com/tandem.deb"
      sha256 = "latest"
    }
  }
  expect_failures = [var.package]
}

run "init_by_another_name" {
  command = plan

  variables {
    machine = { init = "ansible" }
  }
  expect_failures = [var.machine]
}

run "names_too_long_for_identities" {
  command = plan

  variables {
    cluster = { id = "example-of-twenty-ch", realm = "sip.example.net" }
    witness = { name = "witness-in-iowa-1" }
  }
  expect_failures = [google_service_account.node]
}

run "admitting_node_that_is_not_there" {
  command = plan

  variables {
    admitting = ["dal-7"]
  }
  expect_failures = [var.admitting]
}
