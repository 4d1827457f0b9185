# Names: of each node, SRV records of the whole cluster by the priority of its sites, and of each site with its own
# nodes first and those of its peers after them.

locals {
  dns        = coalesce(var.cluster.dns, var.cluster.realm)
  site_names = [for s in keys(var.sites) : "${s}.${local.dns}"]

  # With a load balancer the target is the site's one address.
  front_names = { for s in keys(var.sites) : s => "front.${s}.${local.dns}" }
  front_srv = merge([for label, t in { "_sip._udp" = "udp", "_sip._tcp" = "tcp", "_sips._tcp" = "tls" } : merge(
    { "${label}.${local.dns}" = [for s, site in var.sites : { priority = site.priority, weight = 100, port = local.faces[t], target = "${local.front_names[s]}." }] },
    { for s, site in var.sites : "${label}.${s}.${local.dns}" => [
      for i, of in concat([s], site.peers) : { priority = (i + 1) * 10, weight = 100, port = local.faces[t], target = "${local.front_names[of]}." }
    ] },
  ) if var.listeners[t]]...)

  srv = var.front == "nlb" ? local.front_srv : module.node_config.srv_records
  a   = merge(module.node_config.a_records, var.front == "nlb" ? { for s, name in local.front_names : name => local.fronts[s] } : {})
  # Known before any address is, so that a plan can say which records there will be.
  names = merge({ for n in keys(local.placed) : "${n}.${local.dns}" => n }, var.front == "nlb" ? { for s, name in local.front_names : name => s } : {})
}

resource "google_dns_record_set" "address" {
  for_each = var.dns_zone == null ? {} : local.names

  managed_zone = var.dns_zone
  name         = "${each.key}."
  type         = "A"
  ttl          = var.dns_ttl
  rrdatas      = [local.a[each.key]]
}

resource "google_dns_record_set" "srv" {
  for_each = var.dns_zone == null ? {} : local.srv

  managed_zone = var.dns_zone
  name         = "${each.key}."
  type         = "SRV"
  ttl          = var.dns_ttl
  rrdatas      = [for r in each.value : "${r.priority} ${r.weight} ${r.port} ${r.target}"]

  # A name that is not there yet would be remembered as missing.
  depends_on = [google_dns_record_set.address]
}
