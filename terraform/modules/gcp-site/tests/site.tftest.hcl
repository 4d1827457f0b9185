# One site. The provider is a mock with the real one's schema.

mock_provider "google" {}

variables {
  cluster = "example"
  network = "projects/acme-voice/global/networks/example"
  site    = { name = "dallas", region = "us-south1", zones = ["us-south1-a", "us-south1-b", "us-south1-c"], cidr = "10.10.0.0/24" }
  nodes = {
    dal-1 = { address = "10.10.0.11", public_address = "192.0.2.11", zone = "us-south1-a", service_account = "dal-1@example.iam.gserviceaccount.com" }
    dal-2 = { address = "10.10.0.12", public_address = "192.0.2.12", zone = "us-south1-b", service_account = "dal-2@example.iam.gserviceaccount.com" }
  }
  user_data = { dal-1 = "#cloud-config\n{}", dal-2 = "#cloud-config\n{}" }
}

run "closed_unless_opened" {
  command = plan

  assert {
    condition     = length(google_compute_firewall.in) == 0
    error_message = "Nobody is let in who is not named: ${join(", ", keys(google_compute_firewall.in))}."
  }
  assert {
    condition     = google_compute_subnetwork.site.private_ip_google_access && google_compute_subnetwork.site.ip_cidr_range == "10.10.0.0/24"
    error_message = "The subnet is the one that was asked for, with Google's services within reach."
  }
}

run "opened_to_whom_it_says" {
  command = plan

  variables {
    access = {
      sip     = ["198.51.100.0/24", "203.0.113.7/32"]
      ssh     = ["35.235.240.0/20"]
      metrics = ["10.90.0.5/32"]
      nodes   = ["10.10.0.0/24", "10.20.0.0/24"]
    }
    ports = { sip = 5070 }
  }

  assert {
    condition     = toset(keys(google_compute_firewall.in)) == toset(["sip", "ssh", "metrics", "nodes"])
    error_message = "There is a rule for each who is let in, and no other: ${join(", ", keys(google_compute_firewall.in))}."
  }
  assert {
    condition     = google_compute_firewall.in["sip"].source_ranges == toset(["198.51.100.0/24", "203.0.113.7/32"])
    error_message = "SIP comes from who was named."
  }
  assert {
    condition     = { for a in google_compute_firewall.in["sip"].allow : a.protocol => join(",", a.ports) } == { udp = "5070", tcp = "5070,5061" }
    error_message = "SIP comes to its own ports and to no other."
  }
  assert {
    condition     = { for a in google_compute_firewall.in["nodes"].allow : a.protocol => join(",", a.ports) } == { udp = "7950,7946", tcp = "7950,7946" }
    error_message = "Nodes reach each other at interconnect and gossip, over UDP and TCP, and nowhere else."
  }
  assert {
    condition     = alltrue([for r in google_compute_firewall.in : r.target_tags == toset(["example-dallas-sbc"]) && r.direction == "INGRESS"])
    error_message = "Rules are for the machines of this site alone."
  }
}

run "a_load_balancer" {
  command = plan

  variables {
    front         = "nlb"
    front_address = "192.0.2.100"
  }

  assert {
    condition     = google_compute_forwarding_rule.front[0].ip_protocol == "L3_DEFAULT" && google_compute_forwarding_rule.front[0].all_ports && google_compute_forwarding_rule.front[0].ip_address == "192.0.2.100"
    error_message = "UDP, TCP and fragments go through one address."
  }
  assert {
    condition     = google_compute_region_backend_service.front[0].session_affinity == "CLIENT_IP" && toset(keys(google_compute_instance_group.zone)) == toset(["us-south1-a", "us-south1-b"])
    error_message = "A source stays at one node, and each zone with a node is behind the address."
  }
  assert {
    condition     = google_compute_region_health_check.ready[0].http_health_check[0].request_path == "/readyz" && google_compute_region_health_check.ready[0].http_health_check[0].port == 9060
    error_message = "A node that drains gets no new calls: /readyz decides."
  }
  assert {
    condition     = contains(google_compute_firewall.in["probes"].source_ranges, "35.191.0.0/16") && length(google_compute_firewall.in) == 1
    error_message = "The probes of the load balancer are let in, and nobody else."
  }
}

run "no_nodes" {
  command = plan

  variables {
    nodes = {}
  }
  expect_failures = [var.nodes]
}

run "cluster_with_a_digit_first" {
  command = plan

  variables {
    cluster = "2nd"
  }
  expect_failures = [var.cluster]
}

run "site_with_capitals" {
  command = plan

  variables {
    site = { name = "Dallas", region = "us-south1", zones = ["us-south1-a", "us-south1-b", "us-south1-c"], cidr = "10.10.0.0/24" }
  }
  expect_failures = [var.site]
}

run "zone_of_another_region" {
  command = plan

  variables {
    site = { name = "dallas", region = "us-south1", zones = ["us-east4-a"], cidr = "10.10.0.0/24" }
  }
  expect_failures = [var.site]
}

run "one_zone_twice" {
  command = plan

  variables {
    site = { name = "dallas", region = "us-south1", zones = ["us-south1-a", "us-south1-a"], cidr = "10.10.0.0/24" }
  }
  expect_failures = [var.site]
}

run "subnet_that_begins_in_the_middle" {
  command = plan

  variables {
    site = { name = "dallas", region = "us-south1", zones = ["us-south1-a", "us-south1-b", "us-south1-c"], cidr = "10.10.0.9/24" }
  }
  expect_failures = [var.site]
}

run "one_address_twice" {
  command = plan

  variables {
    nodes = {
      dal-1 = { address = "10.10.0.12", public_address = "192.0.2.11", zone = "us-south1-a", service_account = "x" }
      dal-2 = { address = "10.10.0.12", public_address = "192.0.2.12", zone = "us-south1-b", service_account = "x" }
    }
  }
  expect_failures = [var.nodes]
}

run "node_in_a_zone_of_nobody" {
  command = plan

  variables {
    nodes = {
      dal-1 = { address = "10.10.0.11", public_address = "192.0.2.11", zone = "us-south1-d", service_account = "x" }
      dal-2 = { address = "10.10.0.12", public_address = "192.0.2.12", zone = "us-south1-b", service_account = "x" }
    }
  }
  expect_failures = [google_compute_subnetwork.site]
}

run "node_outside_of_the_subnet" {
  command = plan

  variables {
    nodes = {
      dal-1 = { address = "10.11.0.11", public_address = "192.0.2.11", zone = "us-south1-a", service_account = "x" }
      dal-2 = { address = "10.10.0.12", public_address = "192.0.2.12", zone = "us-south1-b", service_account = "x" }
    }
  }
  expect_failures = [google_compute_subnetwork.site]
}

run "node_at_the_gateways_address" {
  command = plan

  variables {
    nodes = {
      dal-1 = { address = "10.10.0.1", public_address = "192.0.2.11", zone = "us-south1-a", service_account = "x" }
      dal-2 = { address = "10.10.0.12", public_address = "192.0.2.12", zone = "us-south1-b", service_account = "x" }
    }
  }
  expect_failures = [google_compute_subnetwork.site]
}

run "front_by_another_name" {
  command = plan

  variables {
    front = "haproxy"
  }
  expect_failures = [var.front]
}

run "no_affinity" {
  command = plan

  variables {
    affinity = "NONE"
  }
  expect_failures = [var.affinity]
}

run "access_that_is_no_network" {
  command = plan

  variables {
    access = { sip = ["carrier.example.com"] }
  }
  expect_failures = [var.access]
}

run "metrics_for_everybody" {
  command = plan

  variables {
    access = { metrics = ["0.0.0.0/0"] }
  }
  expect_failures = [var.access]
}

run "init_by_another_name" {
  command = plan

  variables {
    machine = { init = "ansible" }
  }
  expect_failures = [var.machine]
}

run "debian_with_cloud_init" {
  command = plan

  variables {
    machine = { image = "debian-cloud/debian-12" }
  }
  expect_failures = [var.machine]
}
