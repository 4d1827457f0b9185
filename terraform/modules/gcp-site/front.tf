# One address for the site, in front of its nodes (front = "nlb"). Packets reach a node as they were sent, addressed
# to the load balancer, and the node answers from that address itself: it has a listener there, which the
# machine's guest agent makes possible.

locals {
  nlb = var.front == "nlb" ? 1 : 0
  # Zones with nodes, since a group of instances is of one zone.
  groups = var.front == "nlb" ? { for z in distinct([for n in values(var.nodes) : n.zone]) : z => [for k, n in var.nodes : k if n.zone == z] } : {}
}

resource "google_compute_instance_group" "zone" {
  for_each = local.groups

  name      = "${local.prefix}-${each.key}"
  zone      = each.key
  network   = var.network
  instances = [for k in each.value : module.node[k].instance.self_link]
}

# A node that drains, or that has no table to route by, says so at /readyz.
resource "google_compute_region_health_check" "ready" {
  count = local.nlb

  name                = "${local.prefix}-ready"
  region              = var.site.region
  check_interval_sec  = 2
  timeout_sec         = 2
  healthy_threshold   = 3
  unhealthy_threshold = 2

  http_health_check {
    port         = var.ports.metrics
    request_path = "/readyz"
  }
}

resource "google_compute_region_backend_service" "front" {
  count = local.nlb

  name                            = "${local.prefix}-front"
  region                          = var.site.region
  load_balancing_scheme           = "EXTERNAL"
  protocol                        = "UNSPECIFIED" # UDP and TCP behind one address
  session_affinity                = var.affinity
  health_checks                   = [google_compute_region_health_check.ready[0].id]
  connection_draining_timeout_sec = 300

  dynamic "backend" {
    for_each = google_compute_instance_group.zone
    content {
      group          = backend.value.self_link
      balancing_mode = "CONNECTION"
    }
  }
}

resource "google_compute_forwarding_rule" "front" {
  count = local.nlb

  name                  = "${local.prefix}-front"
  region                = var.site.region
  load_balancing_scheme = "EXTERNAL"
  ip_address            = var.front_address
  ip_protocol           = "L3_DEFAULT" # fragments have no port to go by
  all_ports             = true
  network_tier          = "PREMIUM"
  backend_service       = google_compute_region_backend_service.front[0].id
  labels                = local.labels
}
