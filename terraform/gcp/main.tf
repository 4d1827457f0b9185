# Two sites and a witness in one network. Addresses are reserved before any machine is made, since the nodes' files
# name them.

locals {
  # By node: where it stands. The number at the end of the name decides.
  placed = merge([for site, s in var.sites : { for n in s.nodes : n => {
    site    = site
    number  = tonumber(regex("[0-9]+$", n))
    weight  = lookup(s.weights, n, 100)
    address = cidrhost(s.cidr, 10 + tonumber(regex("[0-9]+$", n)))
    zone    = s.zones[(tonumber(regex("[0-9]+$", n)) - 1) % length(s.zones)]
  } }]...)
  witness_address = cidrhost(var.witness.cidr, 11)

  labels = merge(var.labels, { tandem-cluster = var.cluster.id })
  voters = coalesce(var.voters, concat([for n, p in local.placed : n if p.number <= 2], [var.witness.name]))
  cidrs  = concat([for s in values(var.sites) : s.cidr], [var.witness.cidr])

  user_data = var.machine.init == "cloud-init" ? module.node_config.cloud_init : module.node_config.startup_scripts
}

resource "google_compute_network" "cluster" {
  name                    = var.cluster.id
  auto_create_subnetworks = false
  routing_mode            = "GLOBAL" # sites reach each other inside Google's own network
  mtu                     = 1500     # large SIP messages over UDP as on any Ethernet
}

# Carriers and customers have these in their access lists: none is given back by mistake.
resource "google_compute_address" "node" {
  for_each = local.placed

  name         = "${var.cluster.id}-${each.key}"
  region       = var.sites[each.value.site].region
  address      = lookup(var.public_addresses, each.key, null)
  address_type = "EXTERNAL"
  network_tier = "PREMIUM"
  labels       = local.labels

  lifecycle {
    prevent_destroy = true
  }
}

resource "google_compute_address" "front" {
  for_each = { for s, site in var.sites : s => site if var.front == "nlb" }

  name         = "${var.cluster.id}-${each.key}-front"
  region       = each.value.region
  address      = lookup(var.public_addresses, each.key, null)
  address_type = "EXTERNAL"
  network_tier = "PREMIUM"
  labels       = local.labels

  lifecycle {
    prevent_destroy = true
  }
}

module "node_config" {
  source = "../modules/node-config"

  # Callers may name the site that they want, too.
  cluster = merge(var.cluster, { domains = distinct(concat(var.cluster.domains, [for name in concat([local.dns], local.site_names) : name if name != var.cluster.realm])) })
  sites   = { for n, s in var.sites : n => { peers = s.peers, priority = s.priority } }
  nodes = merge(
    { for n, p in local.placed : n => {
      site           = p.site
      address        = p.address
      public_address = google_compute_address.node[n].address
      weight         = p.weight
      voter          = contains(local.voters, n)
      join           = contains(var.joining, n)
      admits         = contains(var.admitting, n)
    } },
    { (var.witness.name) = {
      site    = var.witness.site
      role    = "witness"
      address = local.witness_address
      voter   = contains(local.voters, var.witness.name)
    } },
  )
  ports      = var.ports
  listeners  = var.listeners
  admin      = { remote = var.remote_admin, token_file = "secrets/admin.token" }
  package    = var.package
  secrets    = { source = "gcp", project = var.project, prefix = var.cluster.id }
  data_disk  = {}
  extra      = var.extra
  node_extra = local.fronted
}

module "site" {
  source   = "../modules/gcp-site"
  for_each = var.sites

  cluster = var.cluster.id
  site    = { name = each.key, region = each.value.region, zones = each.value.zones, cidr = each.value.cidr }
  nodes = { for n, p in local.placed : n => {
    address         = p.address
    public_address  = google_compute_address.node[n].address
    zone            = p.zone
    service_account = google_service_account.node[n].email
  } if p.site == each.key }
  user_data     = { for n, p in local.placed : n => local.user_data[n] if p.site == each.key }
  network       = google_compute_network.cluster.self_link
  front         = var.front
  front_address = var.front == "nlb" ? google_compute_address.front[each.key].address : null
  access        = merge(var.access, { nodes = local.cidrs })
  ports         = var.ports
  machine       = var.machine
  data_disk     = var.data_disk
  labels        = var.labels

  # The first start fetches secrets and the package.
  depends_on = [google_secret_manager_secret_iam_member.reader, google_storage_bucket_iam_member.package]
}

module "witness" {
  source = "../modules/gcp-witness"

  cluster = var.cluster.id
  witness = {
    name            = var.witness.name
    zone            = var.witness.zone
    cidr            = var.witness.cidr
    address         = local.witness_address
    service_account = google_service_account.node[var.witness.name].email
  }
  user_data = local.user_data[var.witness.name]
  network   = google_compute_network.cluster.self_link
  access    = { ssh = var.access.ssh, admin = var.access.admin, metrics = var.access.metrics, nodes = local.cidrs }
  ports     = { for k, p in var.ports : k => p if !startswith(k, "sip") }
  machine   = { type = var.witness_machine, image = var.machine.image, init = var.machine.init, deletion_protection = var.machine.deletion_protection }
  data_disk = { type = "pd-ssd", gb = 10 }
  labels    = var.labels

  # The first start fetches secrets and the package.
  depends_on = [google_secret_manager_secret_iam_member.reader, google_storage_bucket_iam_member.package]
}
