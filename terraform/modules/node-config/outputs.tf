output "node_files" {
  description = "The node file of each node, as YAML."
  value       = { for k, f in local.files : k => yamlencode(f) }

  precondition {
    condition     = alltrue([for n in values(local.sbcs) : contains(keys(var.sites), n.site)])
    error_message = "A node with role \"sbc\" must stand at one of sites; these do not: ${join(", ", [for k, n in local.sbcs : "${k} (${n.site})" if !contains(keys(var.sites), n.site)])}."
  }
  precondition {
    condition     = alltrue([for names in values(local.by_site) : length(names) > 0])
    error_message = "These sites have no node: ${join(", ", [for s, names in local.by_site : s if length(names) == 0])}. Add one with role \"sbc\", or take the site out."
  }
  precondition {
    condition     = length(local.voters) % 2 == 1 && length(local.voters) <= 7
    error_message = "${length(local.voters)} nodes would vote (${join(", ", local.voters)}): it must be an odd number, 7 at most. Add a witness in a third place, or set voter = true on the nodes that shall vote."
  }
  precondition {
    condition     = length(var.sites) == 1 || alltrue([for votes in values(local.votes_of) : votes * 2 < length(local.voters)])
    error_message = "With ${join(", ", [for s, v in local.votes_of : s if v * 2 >= length(local.voters)])} lost, no majority of the ${length(local.voters)} votes would be left and nobody could change the configuration. Set voter = true on as many nodes of each site, and add a witness in a third place."
  }
  precondition {
    condition     = alltrue([for k in local.witnesses : !contains(keys(var.sites), var.nodes[k].site)])
    error_message = "A witness that stands at a site goes with it: put ${join(", ", [for k in local.witnesses : k if contains(keys(var.sites), var.nodes[k].site)])} in a third place, with a site that is not among sites."
  }
  precondition {
    condition     = alltrue([for k, n in local.sbcs : !contains(["0.0.0.0", "::"], coalesce(n.sip_address, n.address)) || strcontains(coalesce(n.sip_address, n.address), ":") == strcontains(coalesce(n.public_address, n.address), ":")])
    error_message = "A sip_address of 0.0.0.0 needs an IPv4 address to show, and :: an IPv6 address; set sip_address or public_address accordingly."
  }
  precondition {
    condition     = alltrue([for k in try(keys(var.node_extra), []) : contains(keys(var.nodes), k)])
    error_message = "node_extra names nodes that are not there: ${join(", ", [for k in try(keys(var.node_extra), []) : k if !contains(keys(var.nodes), k)])}."
  }
  precondition {
    condition     = length(var.nodes) == 1 || length(distinct([for d in values(local.dirs) : d.lib])) == length(var.nodes) || !anytrue([for p in compact(values(var.paths)) : strcontains(p, "{node}")])
    error_message = "One of paths has {node} and lib has not: nodes on one file system must not share their data. Write {node} in each of paths."
  }
  precondition {
    condition     = local.tls || !anytrue([for n in values(var.nodes) : n.join || n.admits])
    error_message = "join and admits are for clusters with certificates: set cluster.tls = true, or copy cluster.key to the new node."
  }
  precondition {
    condition     = local.tls || !var.admin.remote
    error_message = "admin.remote shows the node's certificate: set cluster.tls = true, or leave the admin API on the machine."
  }
  precondition {
    condition     = !anytrue([for k, n in var.nodes : n.join && contains(local.voters, k)])
    error_message = "A node that joins a cluster that runs cannot found it: let voter be true on the others alone, not on ${join(", ", [for k, n in var.nodes : k if n.join && contains(local.voters, k)])}."
  }
}

output "cloud_init" {
  description = "The user-data of each node for images with cloud-init, such as Ubuntu's."
  value       = local.cloud_init
}

output "startup_scripts" {
  description = "The same for images without cloud-init, such as Debian's at Google: a script to run at each start."
  value       = local.startup_script
}

output "secret_names" {
  description = "By node, the files that it needs and the names of the secrets that they are fetched from."
  value       = local.secret_names
}

output "voters" {
  description = "The nodes that vote."
  value       = local.voters
}

output "http_sd" {
  description = "The targets of Prometheus as JSON, for file_sd_configs; a node's own /v1/prometheus/sd knows better."
  value = jsonencode([for k, n in var.nodes : {
    targets = ["${local.bracketed[k]}:${var.ports.metrics}"]
    labels  = { site = n.site, node = k, role = n.role, cluster = var.cluster.id }
  }])
}

output "srv_records" {
  description = <<-EOT
    SRV records by name, each a list of {priority, weight, port, target}: of the whole cluster by the priority
    of its sites, and of each site (SITE.DNS), whose own nodes come first and then those of its peers.
  EOT
  value = merge([for t in local.transports : merge(
    { "${local.srv_label[t]}.${local.dns}" = [for k, n in local.sbcs : merge(local.srv_of[k], {
      port = local.port[t], priority = try(var.sites[n.site].priority, 10)
    })] },
    { for s, site in var.sites : "${local.srv_label[t]}.${s}.${local.dns}" => flatten([for i, of in concat([s], site.peers) : [
      for k in try(local.by_site[of], []) : merge(local.srv_of[k], { port = local.port[t], priority = (i + 1) * 10 })
    ]]) },
  )]...)
}

output "a_records" {
  description = "The address that each name of the SRV records stands for: public, or the private one where there is none."
  value       = { for k, n in local.sbcs : local.named[k] => coalesce(n.public_address, n.sip_address == null || contains(["0.0.0.0", "::"], coalesce(n.sip_address, "::")) ? n.address : n.sip_address) }
}

output "contexts" {
  description = "A file of contexts for `tandem --context NODE`, see TANDEM_CONTEXTS; every path in it is on the machine of who operates."
  value       = yamlencode({ current = keys(var.nodes)[0], contexts = local.known })
}

output "cluster_document_head" {
  description = "How the cluster document begins; trunk groups and route plans follow."
  value       = yamlencode({ cluster = var.cluster.id, sites = [for s, site in var.sites : { name = s, peers = site.peers }] })
}

locals {
  srv_label = { udp = "_sip._udp", tcp = "_sip._tcp", tls = "_sips._tcp" }
  srv_of    = { for k, n in local.sbcs : k => { weight = n.weight, target = "${local.named[k]}." } }

  reach = { for k, n in var.nodes : k => var.admin.reach == "public" ? coalesce(n.public_address, n.address) : n.address }
  contexts = [for k, n in var.nodes : var.admin.remote ? {
    name        = k
    address     = format(strcontains(local.reach[k], ":") ? "https://[%s]:%d" : "https://%s:%d", local.reach[k], var.ports.admin)
    token_file  = var.admin.token_file
    ca          = var.admin.ca
    server_name = "${k}.${var.cluster.id}.tandem.internal"
    } : {
    name = k, address = "unix:${local.dirs[k].run}/admin.sock", token_file = null, ca = null, server_name = null
  }]
  known = [for c in local.contexts : { for key, v in c : key => v if v != null }]
}
