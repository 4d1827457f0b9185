output "sip_addresses" {
  description = "The public address of each node, for carriers' and customers' access lists: calls and everything inside them come from here."
  value       = { for n, a in google_compute_address.node : n => a.address }
}

output "front_addresses" {
  description = "With front = \"nlb\", the address of each site that calls come in at."
  value       = local.fronts
}

output "srv_names" {
  description = "What customers and carriers configure: the domain of the whole cluster, and one for each site that is tried first there."
  value       = concat([local.dns], local.site_names)
}

output "srv_records" {
  description = "The SRV records, for a DNS server elsewhere when dns_zone is null."
  value       = { for name, list in local.srv : name => [for r in list : "${r.priority} ${r.weight} ${r.port} ${r.target}"] }
}

output "a_records" {
  description = "The addresses of the SRV records' targets, for a DNS server elsewhere."
  value       = local.a
}

output "secrets" {
  description = "The secrets to fill before the machines can start, by node: file and name (docs/deploy-gcp.md)."
  value       = module.node_config.secret_names
}

output "console" {
  description = "By node, the command that brings its admin API to this machine, through Google's Identity-Aware Proxy: then `tandem --context NODE` with a context at 127.0.0.1 (docs/deploy-gcp.md), or curl."
  value = { for n, i in merge(concat([for m in module.site : m.instances], [{ (var.witness.name) = module.witness.instance }])...) :
    n => "gcloud compute ssh ${i.name} --project ${var.project} --zone ${i.zone} --tunnel-through-iap -- -N -L 127.0.0.1:${var.ports.admin}:${n == var.witness.name ? local.witness_address : local.placed[n].address}:${var.ports.admin}"
  }
}

output "contexts" {
  description = "The file of contexts for `tandem --context NODE`, for machines that reach the nodes' private addresses (a VPN)."
  value       = module.node_config.contexts
}

output "http_sd" {
  description = "Targets of Prometheus to begin with; any node serves them at /v1/prometheus/sd."
  value       = module.node_config.http_sd
}

output "voters" {
  description = "The nodes that vote on the configuration."
  value       = module.node_config.voters
}

output "cluster_document_head" {
  description = "How the cluster document begins."
  value       = module.node_config.cluster_document_head
}
