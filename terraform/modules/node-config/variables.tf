# Who is in the cluster. What a machine of it looks like is in machine.tf.

variable "cluster" {
  description = <<-EOT
    The cluster: `id` is the name that its document bears, `realm` the realm of digest challenges (or "-" for
    none), `domains` further names that callers may use. `dns` is the domain of the SRV records, `realm` unless
    set. `document` is the path, on the machine, of a document to begin with; without it the cluster waits for
    `tandem config apply`. `tls` puts the streams between nodes inside mutual TLS; each node then needs its
    certificate (docs/keys.md).
  EOT
  type = object({
    id       = string
    realm    = string
    domains  = optional(list(string), [])
    dns      = optional(string)
    document = optional(string)
    tls      = optional(bool, true)
  })
  nullable = false

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", var.cluster.id))
    error_message = "cluster.id is \"${var.cluster.id}\": use a-z, 0-9 and '-', 63 at most, for example \"example\"."
  }
  validation {
    condition     = length(trimspace(var.cluster.realm)) > 0 && !can(regex("[\"\\\\[:cntrl:]]", var.cluster.realm))
    error_message = "cluster.realm must be the realm of digest challenges without quotes, for example \"sip.example.net\", or \"-\" for no digest."
  }
  validation {
    condition     = alltrue([for d in var.cluster.domains : can(regex("^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$", d))])
    error_message = "cluster.domains must be host names without port, for example [\"sip.example.com\"]."
  }
  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$", coalesce(var.cluster.dns, "a.example")))
    error_message = "cluster.dns must be a domain in small letters without a dot at its end, for example \"sip.example.net\"."
  }
  validation {
    condition     = can(regex("^(/([A-Za-z0-9._-]|[{]node[}])+)+$", coalesce(var.cluster.document, "/a")))
    error_message = "cluster.document must be the whole path of a file on the machine, of letters, digits and . _ - {node}, for example \"/etc/tandem/cluster.yaml\"."
  }
}

variable "sites" {
  description = <<-EOT
    The sites that carry calls, by name. `peers` are the sites that take a site's calls over, best first.
    `priority` is its place in the SRV records of the whole cluster, lower first; sites of one priority share
    the calls. A witness stands at a site of any other name, which is not listed here.
  EOT
  type = map(object({
    peers    = optional(list(string), [])
    priority = optional(number, 10)
  }))
  nullable = false

  validation {
    condition     = length(var.sites) > 0
    error_message = "sites is empty: name at least one, for example {dallas = {peers = [\"ashburn\"]}, ashburn = {peers = [\"dallas\"]}}."
  }
  validation {
    condition     = alltrue([for s in keys(var.sites) : can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", s))])
    error_message = "Names of sites are of a-z, 0-9 and '-', 63 at most, for example \"dallas\"; these are not: ${join(", ", [for s in keys(var.sites) : s if !can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", s))])}."
  }
  validation {
    condition     = alltrue(flatten([for n, s in var.sites : [for p in s.peers : p != n && contains(keys(var.sites), p)]]))
    error_message = "sites[].peers must name other sites of the same map; these do not: ${join(", ", flatten([for n, s in var.sites : [for p in s.peers : "${p} (of ${n})" if p == n || !contains(keys(var.sites), p)]]))}."
  }
  validation {
    condition     = alltrue([for s in values(var.sites) : length(distinct(s.peers)) == length(s.peers)])
    error_message = "sites[].peers must name each peer once."
  }
  validation {
    condition     = alltrue([for s in values(var.sites) : s.priority >= 0 && s.priority <= 65000 && floor(s.priority) == s.priority])
    error_message = "sites[].priority must be a whole number from 0 to 65000, as in an SRV record, lower first."
  }
}

variable "nodes" {
  description = <<-EOT
    The nodes, by name. `role` is "sbc", or "witness" for one that votes and carries no calls. `address` is the
    address that the other nodes and Prometheus reach it at, `sip_address` where it takes SIP (`address` unless
    set), `public_address` what it shows of itself behind a NAT of one to one, `public_name` its name in DNS
    (NODE.DNS unless set). `weight` is its share of the calls of its site in the SRV records. `voter` says
    whether it votes: unless any node says so, two nodes of each site and the witnesses do, by the order of
    their names, which later nodes may change: say it on every voter of a cluster that will grow.
    `join` fetches a join token at the first start in place of certificate and key; for nodes that come to a
    cluster that runs (docs/keys.md). `admits` keeps the authority's key on this node, which makes such tokens.
  EOT
  type = map(object({
    site           = string
    role           = optional(string, "sbc")
    address        = string
    sip_address    = optional(string)
    public_address = optional(string)
    public_name    = optional(string)
    weight         = optional(number, 100)
    voter          = optional(bool)
    join           = optional(bool, false)
    admits         = optional(bool, false)
  }))
  nullable = false

  validation {
    condition     = length(var.nodes) > 0
    error_message = "nodes is empty: name at least one."
  }
  validation {
    condition     = alltrue([for n in keys(var.nodes) : can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", n))])
    error_message = "Names of nodes are of a-z, 0-9 and '-', 63 at most, for example \"dal-1\"; these are not: ${join(", ", [for n in keys(var.nodes) : n if !can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", n))])}."
  }
  validation {
    condition     = alltrue([for n in values(var.nodes) : contains(["sbc", "witness"], n.role)])
    error_message = "nodes[].role must be \"sbc\" or \"witness\"; it is not for: ${join(", ", [for k, n in var.nodes : "${k} (${n.role})" if !contains(["sbc", "witness"], n.role)])}."
  }
  validation {
    condition     = alltrue([for n in values(var.nodes) : can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", n.site))])
    error_message = "nodes[].site must be of a-z, 0-9 and '-', 63 at most, also the place of a witness; look at: ${join(", ", [for k, n in var.nodes : k if !can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", n.site))])}."
  }
  validation {
    condition = alltrue(flatten([for n in values(var.nodes) : [
      for a in [n.address, n.sip_address, n.public_address] : a == null || try(strcontains(a, ":") ? can(cidrhost("${a}/128", 0)) : cidrhost("${a}/32", 0) == a, false)
    ]]))
    error_message = "address, sip_address and public_address must be an IP address without port and without zeros before its numbers, for example \"10.10.0.11\"; look at: ${join(", ", [for k, n in var.nodes : k if !alltrue([for a in [n.address, n.sip_address, n.public_address] : a == null || try(strcontains(a, ":") ? can(cidrhost("${a}/128", 0)) : cidrhost("${a}/32", 0) == a, false)])])}."
  }
  validation {
    condition     = alltrue(flatten([for n in values(var.nodes) : [for a in [n.address, n.public_address] : !contains(["0.0.0.0", "::"], coalesce(a, "-"))]]))
    error_message = "address and public_address must be addresses that others can reach, not 0.0.0.0 or ::; only sip_address may be every address of a node."
  }
  validation {
    condition     = length(distinct([for n in values(var.nodes) : try(cidrhost("${n.address}/128", 0), n.address)])) == length(var.nodes)
    error_message = "Each node needs an address of its own; these are given twice: ${join(", ", distinct([for n in values(var.nodes) : n.address if length([for m in values(var.nodes) : m if try(cidrhost("${m.address}/128", 0), m.address) == try(cidrhost("${n.address}/128", 0), n.address)]) > 1]))}."
  }
  validation {
    condition     = length(distinct([for a in compact([for n in values(var.nodes) : n.public_address]) : try(cidrhost("${a}/128", 0), a)])) == length(compact([for n in values(var.nodes) : n.public_address]))
    error_message = "Each node needs a public_address of its own: calls inside a dialog must come back to the node that has the call."
  }
  validation {
    condition     = alltrue([for n in values(var.nodes) : can(regex("^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$", coalesce(n.public_name, "a.example")))])
    error_message = "nodes[].public_name must be a whole host name in small letters without a dot at its end, for example \"dal-1.sip.example.net\"."
  }
  validation {
    condition     = alltrue([for n in values(var.nodes) : n.weight >= 0 && n.weight <= 65535 && floor(n.weight) == n.weight])
    error_message = "nodes[].weight must be a whole number from 0 to 65535, as in an SRV record."
  }
}

variable "peers" {
  description = <<-EOT
    Which nodes a node file names as those to dial at the start: "voters", so that a further node changes no
    other node's file (the nodes learn of it by gossip), or "all".
  EOT
  type        = string
  default     = "voters"
  nullable    = false

  validation {
    condition     = contains(["voters", "all"], var.peers)
    error_message = "peers is \"${var.peers}\": write \"voters\" or \"all\"."
  }
}

variable "ports" {
  description = "Ports of all nodes. `sip` is for UDP and TCP, `interconnect` carries the configuration log too."
  type = object({
    sip          = optional(number, 5060)
    sips         = optional(number, 5061)
    interconnect = optional(number, 7950)
    gossip       = optional(number, 7946)
    metrics      = optional(number, 9060)
    admin        = optional(number, 8443)
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for p in values(var.ports) : p >= 1 && p <= 65535 && floor(p) == p])
    error_message = "ports must be whole numbers from 1 to 65535; these are not: ${join(", ", [for k, p in var.ports : "${k} (${p})" if !(p >= 1 && p <= 65535 && floor(p) == p)])}."
  }
  validation {
    condition     = length(distinct(values(var.ports))) == length(values(var.ports))
    error_message = "Each of ports must be another number: a node listens on all of them."
  }
}
