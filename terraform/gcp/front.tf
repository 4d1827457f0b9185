# With a load balancer in each site (front = "nlb") a node has listeners at its address too. What they send shows the
# node's own address, so that the rest of a call comes straight to the node that has it.

locals {
  fronts = { for s, a in google_compute_address.front : s => a.address }

  faces = { udp = var.ports.sip, tcp = var.ports.sip, tls = var.ports.sips }
  certificate = {
    udp = {}
    tcp = {}
    tls = { tls = { cert = "/etc/tandem/sip.pem", key = "/etc/tandem/sip.key" } }
  }
  fronted = var.front == "srv" ? {} : { for n, p in local.placed : n => {
    listeners = flatten([for where, address in { "" = p.address, "-front" = local.fronts[p.site] } : [
      for t in ["udp", "tcp", "tls"] : merge(local.certificate[t], {
        name      = "${t}${where}"
        transport = t
        address   = "${address}:${local.faces[t]}"
        advertise = "${google_compute_address.node[n].address}:${local.faces[t]}"
      }) if var.listeners[t]
    ]])
    # Health checks come to the address of the load balancer.
    admin = { metrics = "0.0.0.0:${var.ports.metrics}" }
  } }
}
