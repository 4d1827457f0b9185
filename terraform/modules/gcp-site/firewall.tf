# Nothing comes in that is not let in here, and each rule is made only when it has somebody to let in.

locals {
  # By name of a rule: who, and to which ports.
  rules = {
    sip = {
      why   = "Customers and carriers"
      from  = var.access.sip
      ports = { udp = [var.ports.sip], tcp = [var.ports.sip, var.ports.sips] }
    }
    nodes = {
      why   = "Nodes of the cluster: streams, heartbeats beside them, gossip"
      from  = var.access.nodes
      ports = { udp = [var.ports.interconnect, var.ports.gossip], tcp = [var.ports.interconnect, var.ports.gossip] }
    }
    ssh = {
      why   = "Operators on the machines"
      from  = var.access.ssh
      ports = { tcp = [22] }
    }
    admin = {
      why   = "Operators at the admin API"
      from  = var.access.admin
      ports = { tcp = [var.ports.admin] }
    }
    metrics = {
      why   = "Prometheus"
      from  = var.access.metrics
      ports = { tcp = [var.ports.metrics] }
    }
    # Where Google's probes of passthrough load balancers come from.
    probes = {
      why   = "Health checks of the load balancer"
      from  = var.front == "nlb" ? ["35.191.0.0/16", "209.85.152.0/22", "209.85.204.0/22"] : []
      ports = { tcp = [var.ports.metrics] }
    }
  }
}

resource "google_compute_firewall" "in" {
  for_each = { for name, rule in local.rules : name => rule if length(rule.from) > 0 }

  name          = "${local.prefix}-${each.key}"
  description   = each.value.why
  network       = var.network
  direction     = "INGRESS"
  priority      = 1000
  source_ranges = each.value.from
  target_tags   = [local.tag]

  dynamic "allow" {
    for_each = each.value.ports
    content {
      protocol = allow.key
      ports    = [for p in allow.value : format("%d", p)]
    }
  }
}
