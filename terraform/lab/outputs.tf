output "contexts" {
  description = "File for TANDEM_CONTEXTS: a context for each node, by its name."
  value       = "${var.state_dir}/contexts.yaml"
}

output "nodes" {
  description = "Site, role and address of each node."
  value       = local.nodes
}

output "sip" {
  description = "Where calls go, by site: ip:port of its nodes, UDP and TCP."
  value       = { for site in keys(var.sites) : site => [for n in values(local.nodes) : "${n.address}:5060" if n.site == site] }
}

output "http_sd" {
  description = "Targets of Prometheus, whose addresses are inside the namespaces of the lab."
  value       = module.node_config.http_sd
}
