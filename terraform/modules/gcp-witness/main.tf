# The witness: the smallest machine in a third region, so that a majority of the votes outlives either site. It has
# no public address; what it fetches from outside goes out through a NAT.

locals {
  region = regex("^(.+)-[a-z]$", var.witness.zone)[0]
  prefix = "${var.cluster}-${var.witness.name}"
  labels = merge(var.labels, { tandem-cluster = var.cluster })
  rules = {
    nodes   = { why = "Nodes of the cluster", from = var.access.nodes, udp = [var.ports.interconnect, var.ports.gossip], tcp = [var.ports.interconnect, var.ports.gossip] }
    ssh     = { why = "Operators on the machine", from = var.access.ssh, udp = [], tcp = [22] }
    admin   = { why = "Operators at the admin API", from = var.access.admin, udp = [], tcp = [var.ports.admin] }
    metrics = { why = "Prometheus", from = var.access.metrics, udp = [], tcp = [var.ports.metrics] }
  }
}

resource "google_compute_subnetwork" "witness" {
  name                     = local.prefix
  region                   = local.region
  network                  = var.network
  ip_cidr_range            = var.witness.cidr
  private_ip_google_access = true
}

resource "google_compute_router" "witness" {
  name    = local.prefix
  region  = local.region
  network = var.network
}

resource "google_compute_router_nat" "witness" {
  name                               = local.prefix
  region                             = local.region
  router                             = google_compute_router.witness.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "LIST_OF_SUBNETWORKS"

  subnetwork {
    name                    = google_compute_subnetwork.witness.self_link
    source_ip_ranges_to_nat = ["ALL_IP_RANGES"]
  }
}

module "node" {
  source = "../gcp-node"

  name            = var.witness.name
  cluster         = var.cluster
  zone            = var.witness.zone
  subnetwork      = google_compute_subnetwork.witness.self_link
  address         = var.witness.address
  public          = false
  service_account = var.witness.service_account
  machine         = var.machine
  data_disk       = var.data_disk
  user_data       = var.user_data
  tags            = [local.prefix]
  labels          = local.labels

  # The first start fetches the package.
  depends_on = [google_compute_router_nat.witness]
}

resource "google_compute_firewall" "in" {
  for_each = { for name, rule in local.rules : name => rule if length(rule.from) > 0 }

  name          = "${local.prefix}-${each.key}"
  description   = each.value.why
  network       = var.network
  direction     = "INGRESS"
  priority      = 1000
  source_ranges = each.value.from
  target_tags   = [local.prefix]

  dynamic "allow" {
    for_each = { for protocol in ["udp", "tcp"] : protocol => each.value[protocol] if length(each.value[protocol]) > 0 }
    content {
      protocol = allow.key
      ports    = [for p in allow.value : format("%d", p)]
    }
  }
}
