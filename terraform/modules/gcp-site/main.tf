# A site: its subnet and its nodes. Who may come in is in firewall.tf, the load balancer in front.tf.

locals {
  prefix = "${var.cluster}-${var.site.name}"
  labels = merge(var.labels, { tandem-cluster = var.cluster, tandem-site = var.site.name })
  tag    = "${local.prefix}-sbc"
}

resource "google_compute_subnetwork" "site" {
  name          = local.prefix
  region        = var.site.region
  network       = var.network
  ip_cidr_range = var.site.cidr

  # Secrets and packages in a bucket are reached without leaving Google.
  private_ip_google_access = true

  lifecycle {
    precondition {
      condition     = alltrue([for n in values(var.nodes) : contains(var.site.zones, n.zone)])
      error_message = "Nodes must stand in zones of the site (${join(", ", var.site.zones)}); these do not: ${join(", ", [for k, n in var.nodes : "${k} (${n.zone})" if !contains(var.site.zones, n.zone)])}."
    }
    precondition {
      # The first two addresses and the last two of a subnet are Google's.
      condition = alltrue([for n in values(var.nodes) : try(
        cidrhost("${n.address}/${split("/", var.site.cidr)[1]}", 0) == cidrhost(var.site.cidr, 0) &&
        !contains([cidrhost(var.site.cidr, 0), cidrhost(var.site.cidr, 1), cidrhost(var.site.cidr, -1), cidrhost(var.site.cidr, -2)], n.address),
      false)])
      error_message = "Addresses of nodes must be inside ${var.site.cidr}, without the first two and the last two, which Google keeps."
    }
  }
}

module "node" {
  source   = "../gcp-node"
  for_each = var.nodes

  name            = each.key
  cluster         = var.cluster
  zone            = each.value.zone
  subnetwork      = google_compute_subnetwork.site.self_link
  address         = each.value.address
  public          = true
  public_address  = each.value.public_address
  service_account = each.value.service_account
  machine         = var.machine
  data_disk       = var.data_disk
  user_data       = var.user_data[each.key]
  tags            = [local.tag]
  labels          = local.labels
}
