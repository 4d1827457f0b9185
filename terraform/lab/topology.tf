locals {
  tandem = coalesce(var.tandem, abspath("${path.module}/../../bin/tandem"))

  # The witness stands in a place of its own, as it does in the cloud.
  places    = merge({ for name, s in var.sites : name => s.octet }, { iowa = 15 })
  witnesses = { witness-1 = { site = "iowa", role = "witness", address = "10.91.15.11" } }

  nodes = merge(local.witnesses, merge([
    for name, s in var.sites : {
      for i in range(1, coalesce(s.nodes, var.nodes_per_site) + 1) : "${s.code}-${i}" => {
        site    = name
        role    = "sbc"
        address = "10.91.${s.octet}.${10 + i}"
      }
    }
  ]...))

  # A link for each pair of sites, named by both, the lower octet first.
  links = merge([
    for a, ao in local.places : {
      for b, bo in local.places : "${a}-${b}" => { a = a, ao = ao, b = b, bo = bo } if ao < bo
    }
  ]...)

  # The other sites in order of octets.
  by_octet = [for o in sort([for s in values(var.sites) : format("%02d", s.octet)]) : one([for n, s in var.sites : n if s.octet == tonumber(o)])]
  peers    = { for name in keys(var.sites) : name => [for other in local.by_octet : other if other != name] }

  document = var.document != null ? var.document : templatefile("${path.module}/cluster.yaml.tftpl", {
    id    = "lab-${var.id}"
    sites = [for name in local.by_octet : merge(var.sites[name], { name = name, peers = local.peers[name] })]
  })

  home  = "${var.state_dir}/nodes/{node}"
  world = "LAB='${var.state_dir}' '${abspath(path.module)}/world'"
  lab   = "LAB='${var.state_dir}' '${abspath(path.module)}/lab'"
}

# The node files are those of a real deployment, with the directories of each node below the lab's own.
module "node_config" {
  source = "../modules/node-config"

  cluster = {
    id       = "lab-${var.id}"
    realm    = "sip.lab.example.net"
    document = "${local.home}/etc/cluster.yaml"
  }
  sites = { for name in keys(var.sites) : name => { peers = local.peers[name], priority = 10 * index(local.by_octet, name) + 10 } }
  nodes = { for name, n in local.nodes : name => merge(n, { voter = contains(var.founders, name) }) }
  paths = {
    etc = "${local.home}/etc"
    lib = "${local.home}/lib"
    run = "${local.home}/run"
    cdr = "${local.home}/cdr/calls.jsonl"
  }
  listeners = { tls = true }
  extra = merge(
    { drain = { announce = "2s", quiet = "500ms", timeout = "60s" }, cluster = { reload = "1s" } },
    var.node_extra,
  )
}
