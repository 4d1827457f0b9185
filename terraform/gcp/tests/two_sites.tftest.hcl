# Two sites and a witness as they are unless said otherwise. Nothing is made: the provider is a mock with the real
# one's schema.

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

run "machines" {
  command = plan

  assert {
    condition     = { for n, i in module.site["dallas"].instances : n => i.zone } == { dal-1 = "us-south1-a", dal-2 = "us-south1-b", dal-3 = "us-south1-c" }
    error_message = "Dallas has three nodes in the three zones of us-south1."
  }
  assert {
    condition     = { for n, i in module.site["ashburn"].instances : n => i.zone } == { ash-1 = "us-east4-a", ash-2 = "us-east4-b", ash-3 = "us-east4-c" }
    error_message = "Ashburn has three nodes in the three zones of us-east4."
  }
  assert {
    condition     = module.witness.instance.zone == "us-central1-a"
    error_message = "The witness stands in a third region."
  }
  assert {
    condition     = google_compute_network.cluster.routing_mode == "GLOBAL" && google_compute_network.cluster.mtu == 1500 && !google_compute_network.cluster.auto_create_subnetworks
    error_message = "One network, routed between regions, with the MTU of an Ethernet and subnets of our own alone."
  }
  assert {
    condition     = output.sip_addresses["dal-2"] == "192.0.2.12" && alltrue([for a in google_compute_address.node : a.address_type == "EXTERNAL"]) && length(google_compute_address.node) == 6
    error_message = "Each node of a site has a public address, reserved."
  }
  assert {
    condition     = toset(output.voters) == toset(["dal-1", "dal-2", "ash-1", "ash-2", "witness-1"])
    error_message = "Two nodes of each site and the witness vote, not ${join(", ", output.voters)}."
  }
  assert {
    condition     = length(google_compute_address.front) == 0 && output.front_addresses == {}
    error_message = "There is no load balancer unless it is asked for."
  }
}

run "names" {
  command = plan

  variables {
    dns_zone = "sip-example-net"
  }

  assert {
    condition = toset(google_dns_record_set.srv["_sip._udp.sip.example.net"].rrdatas) == toset([
      "10 100 5060 dal-1.sip.example.net.", "10 100 5060 dal-2.sip.example.net.", "10 100 5060 dal-3.sip.example.net.",
      "20 100 5060 ash-1.sip.example.net.", "20 100 5060 ash-2.sip.example.net.", "20 100 5060 ash-3.sip.example.net.",
    ])
    error_message = "The whole cluster by priority of its sites and weight of its nodes, not ${join("; ", google_dns_record_set.srv["_sip._udp.sip.example.net"].rrdatas)}."
  }
  assert {
    condition     = contains(google_dns_record_set.srv["_sip._tcp.ashburn.sip.example.net"].rrdatas, "10 100 5060 ash-1.sip.example.net.") && contains(google_dns_record_set.srv["_sip._tcp.ashburn.sip.example.net"].rrdatas, "20 100 5060 dal-1.sip.example.net.")
    error_message = "A site's own name has its own nodes first, and then its peer's."
  }
  assert {
    condition     = google_dns_record_set.address["ash-3.sip.example.net"].rrdatas == tolist(["198.51.100.13"]) && length(google_dns_record_set.address) == 6
    error_message = "Each name of an SRV record has the node's public address, and the witness has none."
  }
  assert {
    condition     = !anytrue([for name in keys(google_dns_record_set.srv) : startswith(name, "_sips.")])
    error_message = "Without TLS listeners there are no records of SIP over TLS."
  }
  assert {
    condition     = output.srv_names == ["sip.example.net", "ashburn.sip.example.net", "dallas.sip.example.net"]
    error_message = "srv_names are what customers configure, not ${join(", ", output.srv_names)}."
  }
}

# A caller that looked up a site's own name says it in its calls.
run "names_that_callers_may_use" {
  command = plan

  variables {
    cluster = { id = "example", realm = "sip.example.net", domains = ["voice.example.com"] }
  }

  assert {
    condition     = yamldecode(module.node_config.node_files["dal-1"]).sip.domains == ["voice.example.com", "ashburn.sip.example.net", "dallas.sip.example.net"]
    error_message = "Nodes take calls to ${jsonencode(yamldecode(module.node_config.node_files["dal-1"]).sip.domains)}."
  }
}

run "no_records_without_a_zone" {
  command = plan

  assert {
    condition     = length(google_dns_record_set.srv) == 0 && length(google_dns_record_set.address) == 0 && length(output.srv_records) == 6
    error_message = "Without dns_zone nothing is written, and the records are told."
  }
}

run "secrets" {
  command = plan

  variables {
    package = {
      url    = "gs://acme-packages/tandem_1.0.0_amd64.deb"
      sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
    }
  }

  assert {
    condition     = sort([for key in keys(google_secret_manager_secret_iam_member.reader) : key if startswith(key, "example-dal-1-key ")]) == tolist(["example-dal-1-key dal-1"])
    error_message = "Only dal-1 reads the private key of dal-1."
  }
  assert {
    condition     = length([for key in keys(google_secret_manager_secret_iam_member.reader) : key if startswith(key, "example-cluster-key ")]) == 7
    error_message = "All nodes read the cluster key."
  }
  assert {
    condition     = length(google_service_account.node) == 7 && alltrue([for m in google_secret_manager_secret_iam_member.reader : m.role == "roles/secretmanager.secretAccessor"])
    error_message = "Each machine has an identity of its own, which may read and nothing else."
  }
  assert {
    condition     = length(google_storage_bucket_iam_member.package) == 7 && google_storage_bucket_iam_member.package["witness-1"].bucket == "acme-packages"
    error_message = "Machines are let into the bucket of the package."
  }
  assert {
    condition     = output.secrets["dal-1"]["cluster.key"] == "example-cluster-key" && output.secrets["dal-1"]["dal-1.key"] == "example-dal-1-key"
    error_message = "The output secrets says what to fill."
  }
}

# Secrets are filled before the machines are made: docs/deploy-gcp.md.
run "secrets_first" {
  command = plan

  plan_options {
    target = [google_secret_manager_secret.file]
  }

  assert {
    condition     = length(google_secret_manager_secret.file) == 17 && output.secrets["witness-1"]["ca.pem"] == "example-ca-pem"
    error_message = "The places of the secrets are made first, and said: ${join(", ", keys(google_secret_manager_secret.file))}."
  }
}

run "operating" {
  command = plan

  assert {
    condition     = output.console["dal-1"] == "gcloud compute ssh example-dal-1 --project acme-voice --zone us-south1-a --tunnel-through-iap -- -N -L 127.0.0.1:8443:10.10.0.11:8443"
    error_message = "The way to the console is ${output.console["dal-1"]}."
  }
  assert {
    condition     = length(yamldecode(output.contexts).contexts) == 7 && yamldecode(output.contexts).contexts[3].address == "https://10.10.0.11:8443"
    error_message = "There is a context for each node."
  }
  assert {
    condition     = alltrue([for c in yamldecode(output.contexts).contexts : c.token_file == "secrets/admin.token" && c.ca == "tandem-ca/ca.pem"])
    error_message = "The contexts lead to the files that docs/deploy-gcp.md makes."
  }
  assert {
    condition     = contains([for t in jsondecode(output.http_sd) : t.targets[0]], "10.30.0.11:9060")
    error_message = "Prometheus has the witness among its targets."
  }
}

# The fourth node changes nothing that is there: not the addresses of the others, nor who votes.
run "four_nodes" {
  command = plan

  variables {
    sites = {
      dallas = {
        region = "us-south1", zones = ["us-south1-a", "us-south1-b", "us-south1-c"], cidr = "10.10.0.0/24", peers = ["ashburn"]
        nodes  = ["dal-4", "dal-1", "dal-3"]
      }
      ashburn = {
        region  = "us-east4", zones = ["us-east4-a", "us-east4-b", "us-east4-c"], cidr = "10.20.0.0/24", peers = ["dallas"], priority = 20
        nodes   = ["ash-1", "ash-2", "ash-3", "ash-4"]
        weights = { ash-4 = 10 }
      }
    }
    voters  = ["dal-1", "dal-3", "ash-1", "ash-2", "witness-1"]
    joining = ["dal-4", "ash-4"]
    public_addresses = {
      dal-1 = "192.0.2.11", dal-3 = "192.0.2.13", dal-4 = "192.0.2.14"
      ash-1 = "198.51.100.11", ash-2 = "198.51.100.12", ash-3 = "198.51.100.13", ash-4 = "198.51.100.14"
    }
  }

  assert {
    condition     = module.site["dallas"].instances["dal-4"].zone == "us-south1-a" && module.site["dallas"].instances["dal-3"].zone == "us-south1-c"
    error_message = "The number decides the zone, whoever else is there."
  }
  assert {
    condition     = contains(output.srv_records["_sip._udp.sip.example.net"], "20 10 5060 ash-4.sip.example.net.") && contains(output.srv_records["_sip._udp.sip.example.net"], "20 100 5060 ash-1.sip.example.net.")
    error_message = "A node has the weight that it was given."
  }
  assert {
    condition     = output.secrets["dal-4"] == { "join.token" = "example-dal-4-join-token", "admin.token" = "example-admin-token" }
    error_message = "A node that joins fetches a token and no key: ${jsonencode(output.secrets["dal-4"])}."
  }
}
