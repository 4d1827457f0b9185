# The cluster and where it stands. Who may come in and what the machines are is in machines.tf.

variable "project" {
  description = "Id of the Google Cloud project."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "project is \"${var.project}\": write the id of a project, 6 to 30 of a-z, 0-9 and '-', for example \"acme-voice\"."
  }
}

variable "cluster" {
  description = <<-EOT
    The cluster: `id` is the name that its document bears, `realm` the realm of digest challenges, `domains`
    further names that callers may use, `dns` the domain of the SRV records and of the nodes' names (`realm`
    unless set). `tls` puts the streams between nodes inside mutual TLS.
  EOT
  type = object({
    id      = string
    realm   = string
    domains = optional(list(string), [])
    dns     = optional(string)
    tls     = optional(bool, true)
  })
  nullable = false

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$", var.cluster.id))
    error_message = "cluster.id is \"${var.cluster.id}\": names at Google begin with it, so that it begins with a letter and is of a-z, 0-9 and '-', 20 at most, for example \"example\"."
  }
  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$", coalesce(var.cluster.dns, var.cluster.realm)))
    error_message = "cluster.dns, or cluster.realm in its place, must be a domain in small letters without a dot at its end, for example \"sip.example.net\"; SRV records stand there."
  }
}

variable "sites" {
  description = <<-EOT
    The sites, by name: `region`, its `zones`, the `cidr` of its subnet, `peers` (the sites that take its calls
    over, best first), `priority` in the SRV records of the whole cluster (lower first), and its `nodes`. A node
    is named LETTERS-NUMBER, and the number decides its address and its zone, so that it keeps both while others
    come and go: dal-4 is the 14th address of the subnet, in the first zone of three. `weights` has the shares of
    the site's calls in the SRV records, 100 for who is not named; 0 for one that shall get none.
  EOT
  type = map(object({
    region   = string
    zones    = list(string)
    cidr     = string
    peers    = optional(list(string), [])
    priority = optional(number, 10)
    nodes    = list(string)
    weights  = optional(map(number), {})
  }))
  default = {
    dallas = {
      region = "us-south1"
      zones  = ["us-south1-a", "us-south1-b", "us-south1-c"]
      cidr   = "10.10.0.0/24"
      peers  = ["ashburn"]
      nodes  = ["dal-1", "dal-2", "dal-3"]
    }
    ashburn = {
      region   = "us-east4"
      zones    = ["us-east4-a", "us-east4-b", "us-east4-c"]
      cidr     = "10.20.0.0/24"
      peers    = ["dallas"]
      priority = 20
      nodes    = ["ash-1", "ash-2", "ash-3"]
    }
  }
  nullable = false

  validation {
    condition     = length(var.sites) >= 2
    error_message = "sites has ${length(var.sites)}: a cluster that shall outlive a site has two or more."
  }
  validation {
    condition     = length(distinct([for s in values(var.sites) : s.region])) == length(var.sites)
    error_message = "Each site needs a region of its own: what takes a region away would take both sites (${join(", ", [for n, s in var.sites : "${n}: ${s.region}"])})."
  }
  validation {
    condition     = alltrue(flatten([for s in values(var.sites) : [for n in s.nodes : can(regex("^[a-z][a-z0-9]*-([1-9]|[1-9][0-9]|1[0-9][0-9]|200)$", n))]]))
    error_message = "Names of nodes are small letters, '-' and a number from 1 to 200, for example \"dal-1\"; these are not: ${join(", ", flatten([for s in values(var.sites) : [for n in s.nodes : n if !can(regex("^[a-z][a-z0-9]*-([1-9]|[1-9][0-9]|1[0-9][0-9]|200)$", n))]]))}."
  }
  validation {
    condition     = alltrue([for s in values(var.sites) : length(distinct([for n in s.nodes : try(regex("[0-9]+$", n), n)])) == length(s.nodes)])
    error_message = "Two nodes of a site have one number, which decides the address: ${join(", ", flatten([for s in values(var.sites) : [for n in s.nodes : n if length([for m in s.nodes : m if try(regex("[0-9]+$", m) == regex("[0-9]+$", n), false)]) > 1]]))}."
  }
  validation {
    condition     = alltrue(flatten([for s in values(var.sites) : [for n, w in s.weights : contains(s.nodes, n) && w >= 0 && w <= 65535 && floor(w) == w]]))
    error_message = "sites[].weights has whole numbers from 0 to 65535 by name of a node of the site; look at: ${join(", ", flatten([for s in values(var.sites) : [for n, w in s.weights : "${n} (${w})" if !(contains(s.nodes, n) && w >= 0 && w <= 65535 && floor(w) == w)]]))}."
  }
  validation {
    condition     = length(distinct(flatten([for s in values(var.sites) : s.nodes]))) == length(flatten([for s in values(var.sites) : s.nodes]))
    error_message = "Names of nodes are unique in the cluster: one name stands at two sites."
  }
  validation {
    condition     = alltrue([for s in values(var.sites) : can(cidrhost(s.cidr, 255)) && try(cidrhost(s.cidr, 0) == split("/", s.cidr)[0], false)])
    error_message = "sites[].cidr must be the first address of a network of /24 or larger and its length, for example \"10.10.0.0/24\"; these are not: ${join(", ", [for n, s in var.sites : "${n} (${s.cidr})" if !(can(cidrhost(s.cidr, 255)) && try(cidrhost(s.cidr, 0) == split("/", s.cidr)[0], false))])}."
  }
  validation {
    condition     = alltrue([for s in values(var.sites) : length(s.zones) > 0 && alltrue([for z in s.zones : startswith(z, "${s.region}-")])])
    error_message = "sites[].zones must be zones of its region; look at: ${join(", ", [for n, s in var.sites : n if !(length(s.zones) > 0 && alltrue([for z in s.zones : startswith(z, "${s.region}-")]))])}."
  }
}

variable "witness" {
  description = "The witness, which votes and carries no calls: its `name`, the `zone` in a third region, and the `cidr` of its subnet."
  type = object({
    name = optional(string, "witness-1")
    site = optional(string, "third")
    zone = optional(string, "us-central1-a")
    cidr = optional(string, "10.30.0.0/24")
  })
  default  = {}
  nullable = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", var.witness.zone))
    error_message = "witness.zone is \"${var.witness.zone}\": write the region, '-' and a letter, for example \"us-central1-a\"."
  }
  validation {
    condition     = can(cidrhost(var.witness.cidr, 15)) && try(cidrhost(var.witness.cidr, 0) == split("/", var.witness.cidr)[0], false)
    error_message = "witness.cidr is \"${var.witness.cidr}\": write the first address of a network of /28 or larger and its length, for example \"10.30.0.0/24\"."
  }
  validation {
    condition     = !contains([for s in values(var.sites) : s.region], replace(var.witness.zone, "/-[a-z]$/", ""))
    error_message = "The witness stands in ${var.witness.zone}, where a site is: its vote would be lost with the site's. Choose a third region for witness.zone."
  }
  validation {
    condition     = !contains(flatten([for s in values(var.sites) : s.nodes]), var.witness.name) && !contains(keys(var.sites), var.witness.site)
    error_message = "witness.name and witness.site must be names that no node and no site has, not \"${var.witness.name}\" and \"${var.witness.site}\"."
  }
  validation {
    condition = try(alltrue(flatten([for i, a in concat([for s in values(var.sites) : s.cidr], [var.witness.cidr]) : [
      for j, b in concat([for s in values(var.sites) : s.cidr], [var.witness.cidr]) : i == j ||
      cidrhost("${split("/", a)[0]}/${min(split("/", a)[1], split("/", b)[1])}", 0) != cidrhost("${split("/", b)[0]}/${min(split("/", a)[1], split("/", b)[1])}", 0)
    ]])), true)
    error_message = "Subnets overlap: ${join(", ", concat([for n, s in var.sites : "${n} ${s.cidr}"], ["witness ${var.witness.cidr}"]))}. Give each site and the witness a network of its own."
  }
}

variable "voters" {
  description = <<-EOT
    The nodes that vote on the configuration: the numbers 1 and 2 of each site and the witness, unless named.
    Who founded the cluster together stays here, also when another node is added.
  EOT
  type        = list(string)
  default     = null

  validation {
    condition     = length(setsubtract(coalesce(var.voters, []), concat(flatten([for s in values(var.sites) : s.nodes]), [var.witness.name]))) == 0
    error_message = "voters names nodes that are not there: ${join(", ", setsubtract(coalesce(var.voters, []), concat(flatten([for s in values(var.sites) : s.nodes]), [var.witness.name])))}."
  }
}

variable "joining" {
  description = <<-EOT
    Nodes that come to a cluster that runs: their first start fetches a join token in place of a certificate
    (docs/keys.md). Needs cluster.tls.
  EOT
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = length(setsubtract(var.joining, concat(flatten([for s in values(var.sites) : s.nodes]), [var.witness.name]))) == 0
    error_message = "joining names nodes that are not there: ${join(", ", setsubtract(var.joining, concat(flatten([for s in values(var.sites) : s.nodes]), [var.witness.name])))}."
  }
}

variable "admitting" {
  description = "Nodes that hold the authority's key and make join tokens; nobody unless named."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = length(setsubtract(var.admitting, concat(flatten([for s in values(var.sites) : s.nodes]), [var.witness.name]))) == 0
    error_message = "admitting names nodes that are not there: ${join(", ", setsubtract(var.admitting, concat(flatten([for s in values(var.sites) : s.nodes]), [var.witness.name])))}."
  }
}

variable "front" {
  description = "Where calls come in: \"srv\", at the nodes' own addresses, or \"nlb\", at one address for each site (the module gcp-site)."
  type        = string
  default     = "srv"
  nullable    = false

  validation {
    condition     = contains(["srv", "nlb"], var.front)
    error_message = "front is \"${var.front}\": write \"srv\" for the nodes' own addresses in SRV records, or \"nlb\" for a load balancer in each site."
  }
}

variable "public_addresses" {
  description = <<-EOT
    By node, and with front = "nlb" by site, public addresses of a range of your own that Google announces. All
    others are Google's to choose.
  EOT
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for a in values(var.public_addresses) : can(cidrhost("${a}/32", 0))])
    error_message = "public_addresses must be IPv4 addresses by name of a node or site; these are not: ${join(", ", [for n, a in var.public_addresses : "${n} (${a})" if !can(cidrhost("${a}/32", 0))])}."
  }
  validation {
    condition     = length(distinct(values(var.public_addresses))) == length(var.public_addresses)
    error_message = "public_addresses has an address twice: each node and each load balancer needs its own."
  }
}

variable "dns_zone" {
  description = "Name of the managed zone of Cloud DNS, there already, that the records are written to; null to write none and take them from the output srv_records."
  type        = string
  default     = null

  validation {
    condition     = var.dns_zone == null || can(regex("^[a-z][a-z0-9-]{0,62}$", var.dns_zone))
    error_message = "dns_zone must be the name of a managed zone (\"sip-example-net\"), not its domain."
  }
}

variable "dns_ttl" {
  description = "For how many seconds others keep the records: so long it takes until a changed one counts."
  type        = number
  default     = 300
  nullable    = false

  validation {
    condition     = var.dns_ttl >= 30 && var.dns_ttl <= 86400
    error_message = "dns_ttl must be from 30 to 86400 seconds."
  }
}
