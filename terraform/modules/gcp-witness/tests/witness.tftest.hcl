# The witness. The provider is a mock with the real one's schema.

mock_provider "google" {}

variables {
  cluster   = "example"
  network   = "projects/acme-voice/global/networks/example"
  witness   = { name = "witness-1", zone = "us-central1-a", cidr = "10.30.0.0/24", address = "10.30.0.11", service_account = "w@example.iam.gserviceaccount.com" }
  user_data = "#cloud-config\n{}"
}

run "third_region" {
  command = plan

  variables {
    access = { nodes = ["10.10.0.0/24"], admin = ["10.90.0.0/24"] }
  }

  assert {
    condition     = google_compute_subnetwork.witness.region == "us-central1" && output.instance.zone == "us-central1-a"
    error_message = "Subnet and machine stand in the region of the zone."
  }
  assert {
    condition     = google_compute_router_nat.witness.source_subnetwork_ip_ranges_to_nat == "LIST_OF_SUBNETWORKS"
    error_message = "The witness goes out through a NAT of its own subnet."
  }
  assert {
    condition     = toset(keys(google_compute_firewall.in)) == toset(["nodes", "admin"])
    error_message = "Nodes and operators are let in, and no SIP: ${join(", ", keys(google_compute_firewall.in))}."
  }
}

run "closed_unless_opened" {
  command = plan

  assert {
    condition     = length(google_compute_firewall.in) == 0
    error_message = "Nobody is let in who is not named."
  }
}

run "cluster_with_a_digit_first" {
  command = plan

  variables {
    cluster = "2nd"
  }
  expect_failures = [var.cluster]
}

run "region_and_no_zone" {
  command = plan

  variables {
    witness = { name = "witness-1", zone = "us-central1", cidr = "10.30.0.0/24", address = "10.30.0.11", service_account = "x" }
  }
  expect_failures = [var.witness]
}

run "address_outside_of_the_subnet" {
  command = plan

  variables {
    witness = { name = "witness-1", zone = "us-central1-a", cidr = "10.30.0.0/24", address = "10.31.0.11", service_account = "x" }
  }
  expect_failures = [var.witness]
}

run "ssh_from_everywhere" {
  command = plan

  variables {
    access = { ssh = ["0.0.0.0/0"] }
  }
  expect_failures = [var.access]
}
