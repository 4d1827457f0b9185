# A load balancer in each site.

mock_provider "google" {}

variables {
  project   = "acme-voice"
  cluster   = { id = "example", realm = "sip.example.net" }
  front     = "nlb"
  dns_zone  = "sip-example-net"
  listeners = { tls = true }
  package = {
    url    = "https://downloads.example.com/tandem_1.0.0_amd64.deb"
    sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
  }
  public_addresses = {
    dal-1 = "192.0.2.11", dal-2 = "192.0.2.12", dal-3 = "192.0.2.13", dallas = "192.0.2.100"
    ash-1 = "198.51.100.11", ash-2 = "198.51.100.12", ash-3 = "198.51.100.13", ashburn = "198.51.100.100"
  }
}

run "one_address_for_a_site" {
  command = plan

  assert {
    condition     = output.front_addresses == { dallas = "192.0.2.100", ashburn = "198.51.100.100" }
    error_message = "Each site has an address of its own."
  }
  assert {
    condition     = toset(google_dns_record_set.srv["_sip._udp.sip.example.net"].rrdatas) == toset(["10 100 5060 front.dallas.sip.example.net.", "20 100 5060 front.ashburn.sip.example.net."])
    error_message = "SRV records name the load balancers: ${join("; ", google_dns_record_set.srv["_sip._udp.sip.example.net"].rrdatas)}."
  }
  assert {
    condition     = google_dns_record_set.srv["_sips._tcp.ashburn.sip.example.net"].rrdatas == tolist(["10 100 5061 front.ashburn.sip.example.net.", "20 100 5061 front.dallas.sip.example.net."])
    error_message = "A site's own name has its own load balancer first."
  }
  assert {
    condition     = google_dns_record_set.address["front.dallas.sip.example.net"].rrdatas == tolist(["192.0.2.100"])
    error_message = "The load balancer's name has its address."
  }
}

run "listeners_at_the_front" {
  command = plan

  assert {
    condition = [for l in local.fronted["dal-1"].listeners : "${l.name} ${l.address} ${l.advertise}"] == [
      "udp 10.10.0.11:5060 192.0.2.11:5060", "tcp 10.10.0.11:5060 192.0.2.11:5060", "tls 10.10.0.11:5061 192.0.2.11:5061",
      "udp-front 192.0.2.100:5060 192.0.2.11:5060", "tcp-front 192.0.2.100:5060 192.0.2.11:5060", "tls-front 192.0.2.100:5061 192.0.2.11:5061",
    ]
    error_message = "A node listens at its own address and at the load balancer's, and shows its own."
  }
  assert {
    condition     = strcontains(local.user_data["dal-1"], "192.0.2.100:5060") && !strcontains(local.user_data["ash-1"], "192.0.2.100:5060")
    error_message = "What a machine is told has the address of its own site's load balancer."
  }
}
