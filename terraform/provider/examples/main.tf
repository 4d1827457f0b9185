# A carrier with a gateway in each site, and a customer in both directions.
resource "tandem_number_policy" "plain" {
  name      = "plain"
  format    = "plain"
  headers   = { p_asserted_identity = "e164" }
  numbering = { country_code = "1" }
  preserve  = ["911", "933"]
}

resource "tandem_trunk_group" "carrier" {
  name          = "carrier-a"
  role          = "pstn-provider"
  number_policy = tandem_number_policy.plain.name
  distribution  = { method = "failover" }
  monitoring    = { profile = "kamailio", interval = "5s" }

  # The first member stands in the group: a carrier without members and sources is no carrier.
  members = [
    { id = "gw-dal", site = "dallas", address = "127.83.8.10:5060", priority = 1 },
  ]
}

resource "tandem_member" "ashburn" {
  trunk_group = tandem_trunk_group.carrier.name
  id          = "gw-ash"
  site        = "ashburn"
  address     = "127.83.8.11:5060"
  limits      = { calls = 50, cps = 5 }
}

resource "tandem_route_plan" "domestic" {
  name = "domestic"
  routes = [
    { prefix = "+1", providers = [tandem_trunk_group.carrier.name] },
    { prefix = "911", providers = [tandem_trunk_group.carrier.name] },
  ]
}

resource "tandem_trunk_group" "acme_in" {
  name         = "acme-in"
  role         = "origination-customer"
  distribution = { method = "load-balance", slow_start = "1m" }
  limits       = { calls = 200, cps = 20, static_share = { dallas = 120, ashburn = 80 } }
  numbering    = { country_code = "1" }
  members = [
    { id = "pbx-dal", site = "dallas", address = "127.83.8.20:5060" },
    { id = "pbx-ash", site = "ashburn", address = "127.83.8.21:5060", transport = "tcp" },
  ]
}

resource "tandem_number_range" "main" {
  trunk_group = tandem_trunk_group.acme_in.name
  pattern     = "+12145550100..+12145550149"
}

resource "tandem_number_range" "fax" {
  trunk_group = tandem_trunk_group.acme_in.name
  pattern     = "+14695550100"
}

resource "tandem_trunk_group" "acme_out" {
  name       = "acme-out"
  role       = "termination-customer"
  route_plan = tandem_route_plan.domestic.name
  sources    = [{ ip = "127.83.8.20", port = 5060 }]
  numbering  = { country_code = "1", preserve = ["911"] }
}

variable "acme_password" {
  type      = string
  ephemeral = true
  default   = "not-a-secret"
}

resource "tandem_credential" "acme" {
  trunk_group         = tandem_trunk_group.acme_out.name
  username            = "acme"
  realm               = "sip.example.net"
  password_wo         = var.acme_password
  password_wo_version = 1
  algorithms          = ["SHA-256", "MD5"]
}

data "tandem_cluster_status" "now" {
  depends_on = [tandem_credential.acme]
}

check "quorum" {
  assert {
    condition     = data.tandem_cluster_status.now.quorum
    error_message = "There is no quorum: changes must wait."
  }
}

data "tandem_explain" "inbound" {
  called     = "+12145550100"
  source     = "127.83.8.10:5060"
  depends_on = [tandem_number_range.main, tandem_member.ashburn]
}

output "inbound_order" {
  value = [for line in data.tandem_explain.inbound.order : "${line.group}/${line.member}"]
}
