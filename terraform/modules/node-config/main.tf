# What follows from the variables, and the node files.

locals {
  sbcs      = { for k, n in var.nodes : k => n if n.role == "sbc" }
  witnesses = sort([for k, n in var.nodes : k if n.role == "witness"])
  by_site   = { for s in keys(var.sites) : s => sort([for k, n in local.sbcs : k if n.site == s]) }

  # Who votes. An even number of votes would be no safer than one less, and seven are as many as help.
  chosen = sort([for k, n in var.nodes : k if n.voter == true])
  plans = [
    for most in length(var.sites) == 1 ? [3, 2, 1] : [2, 1] :
    sort(concat(flatten([for names in values(local.by_site) : slice(names, 0, min(most, length(names)))]), local.witnesses))
  ]
  good   = [for p in local.plans : p if length(p) % 2 == 1 && length(p) <= 7]
  voters = length(local.chosen) > 0 ? local.chosen : length(local.good) > 0 ? local.good[0] : local.plans[0]

  # The most votes that are lost with one site, the witness's among them.
  votes_of   = { for s in distinct([for n in values(var.nodes) : n.site]) : s => length([for v in local.voters : v if var.nodes[v].site == s]) }
  tls        = var.cluster.tls
  dns        = coalesce(var.cluster.dns, can(regex("^[a-z0-9.-]+[.][a-z0-9-]+$", var.cluster.realm)) ? var.cluster.realm : "${var.cluster.id}.invalid")
  cdr_path   = coalesce(var.paths.cdr, "${var.paths.lib}/cdr/calls.jsonl")
  named      = { for k, n in var.nodes : k => coalesce(n.public_name, "${k}.${local.dns}") }
  bracketed  = { for k, n in var.nodes : k => strcontains(n.address, ":") ? "[${n.address}]" : n.address }
  dirs       = { for k in keys(var.nodes) : k => { for p, d in merge(var.paths, { cdr = local.cdr_path }) : p => replace(d, "{node}", k) } }
  transports = [for t in ["udp", "tcp", "tls"] : t if var.listeners[t]]
  port       = { udp = var.ports.sip, tcp = var.ports.sip, tls = var.ports.sips }

  sip = { for k, n in local.sbcs : k => {
    bind = coalesce(n.sip_address, n.address)
    # What Via and Contact show: the address outside of the NAT, or a real one for "every address".
    shown = n.public_address != null ? n.public_address : contains(["0.0.0.0", "::"], coalesce(n.sip_address, n.address)) ? n.address : null
  } }

  peers = { for k in keys(var.nodes) : k => [
    for p, n in var.nodes : {
      name         = p
      site         = n.site
      gossip       = "${local.bracketed[p]}:${var.ports.gossip}"
      interconnect = "${local.bracketed[p]}:${var.ports.interconnect}"
    } if p != k && (var.peers == "all" || contains(local.voters, p))
  ] }

  # What is null here is left out of the file.
  whole = { for k, n in var.nodes : k => {
    name         = k
    site         = n.site
    witness      = n.role == "witness" ? true : null
    data_dir     = local.dirs[k].lib
    interconnect = { address = "${local.bracketed[k]}:${var.ports.interconnect}" }
    cluster = {
      id       = var.cluster.id
      key_file = "${local.dirs[k].etc}/cluster.key"
      document = n.role == "sbc" && var.cluster.document != null ? replace(coalesce(var.cluster.document, "-"), "{node}", k) : null
      gossip   = { address = "${local.bracketed[k]}:${var.ports.gossip}" }
      raft     = contains(local.voters, k) ? { voters = [for v in local.voters : { name = v }] } : null
      peers    = local.peers[k]
      tls = local.tls ? { for key, v in {
        cert   = "${local.dirs[k].etc}/${k}.pem"
        key    = "${local.dirs[k].etc}/${k}.key"
        ca     = "${local.dirs[k].etc}/ca.pem"
        ca_key = n.admits ? "${local.dirs[k].etc}/ca.key" : null
      } : key => v if v != null } : null
    }
    admin = {
      address    = "unix:${local.dirs[k].run}/admin.sock"
      metrics    = "${local.bracketed[k]}:${var.ports.metrics}"
      token_file = var.admin.remote ? "${local.dirs[k].etc}/admin.token" : null
      remote = var.admin.remote ? {
        address = "${local.bracketed[k]}:${var.ports.admin}"
        tls     = { cert = "${local.dirs[k].etc}/${k}.pem", key = "${local.dirs[k].etc}/${k}.key" }
      } : null
    }
    cdr = n.role == "sbc" ? { path = local.dirs[k].cdr } : null
    sip = n.role == "sbc" ? { realm = var.cluster.realm, domains = length(var.cluster.domains) > 0 ? var.cluster.domains : null } : null
    listeners = n.role == "sbc" ? [for t in local.transports : { for key, v in {
      name      = t
      transport = t
      address   = format(strcontains(local.sip[k].bind, ":") ? "[%s]:%d" : "%s:%d", local.sip[k].bind, local.port[t])
      advertise = local.sip[k].shown == null ? null : format(strcontains(local.sip[k].shown, ":") ? "[%s]:%d" : "%s:%d", local.sip[k].shown, local.port[t])
      tls       = t == "tls" ? { cert = "${local.dirs[k].etc}/sip.pem", key = "${local.dirs[k].etc}/sip.key" } : null
    } : key => v if v != null }] : null
  } }
  base = { for k, whole in local.whole : k => {
    for section, v in whole : section => try({ for key in keys(v) : key => v[key] if v[key] != null }, v) if v != null
  } }

  # Sections that are in both are merged key by key, anything else is replaced.
  shared = { for k, b in local.base : k => {
    for key in setunion(keys(b), keys(var.extra)) : key => try(merge(b[key], var.extra[key]), var.extra[key], b[key])
  } }
  files = { for k, b in local.shared : k => {
    for key in setunion(keys(b), try(keys(var.node_extra[k]), [])) : key => try(merge(b[key], var.node_extra[k][key]), var.node_extra[k][key], b[key])
  } }
}
