variable "id" {
  description = "Short name of the lab: its namespaces are tl-ID-PLACE, and its cluster is lab-ID."
  type        = string
  default     = "lab"

  validation {
    condition     = can(regex("^[a-z][a-z0-9]{0,7}$", var.id))
    error_message = "id is a letter and at most seven more letters or digits, all lower case, such as lab or ci2: it begins the names of namespaces."
  }
}

variable "state_dir" {
  description = "Directory of the lab: node files, disks, logs, sockets. It is made by the first apply and removed by destroy. An absolute path, short enough that a Unix socket fits below it."
  type        = string

  validation {
    condition     = can(regex("^/[A-Za-z0-9._/-]+$", var.state_dir)) && !can(regex("/\\.\\.(/|$)|/$", var.state_dir))
    error_message = "state_dir is an absolute path without .. and without a slash at its end, such as /var/tmp/lab."
  }

  validation {
    condition     = length(var.state_dir) <= 70
    error_message = "state_dir has at most 70 characters: the kernel takes no longer paths of sockets."
  }
}

variable "tandem" {
  description = "The program that the nodes run; bin/tandem of this repository unless given."
  type        = string
  default     = null

  validation {
    condition     = var.tandem == null ? true : startswith(var.tandem, "/")
    error_message = "tandem is the absolute path of a program, such as /usr/bin/tandem."
  }
}

variable "sites" {
  description = "Sites by name. octet is the third one of their networks (10.91.OCTET.0/24 nodes, 10.92 PBXs, 10.93 carriers), code begins the names of their nodes, nodes is how many there are (nodes_per_site unless given). Calls go over to the other sites in order of octets."
  type = map(object({
    octet = number
    code  = string
    nodes = optional(number)
  }))
  default = {
    dallas  = { octet = 1, code = "dal" }
    ashburn = { octet = 2, code = "ash" }
  }

  validation {
    condition     = length(var.sites) >= 2
    error_message = "sites has two entries or more: with one there is nobody to hand calls off to."
  }

  validation {
    condition     = alltrue([for name, s in var.sites : can(regex("^[a-z][a-z0-9]{0,8}$", name)) && can(regex("^[a-z]{2,4}$", s.code))])
    error_message = "The name of a site is a letter and at most eight letters or digits, and its code two to four letters, all lower case: names of interfaces are short."
  }

  validation {
    condition     = alltrue([for s in values(var.sites) : s.octet >= 1 && s.octet <= 14 && floor(s.octet) == s.octet])
    error_message = "octet is a whole number from 1 to 14; 15 is the witness."
  }

  validation {
    condition     = length(distinct(values(var.sites)[*].octet)) == length(var.sites) && length(distinct(values(var.sites)[*].code)) == length(var.sites)
    error_message = "Every site has an octet and a code of its own."
  }

  validation {
    condition     = alltrue([for s in values(var.sites) : s.nodes == null ? true : s.nodes >= 1 && s.nodes <= 9 && floor(s.nodes) == s.nodes])
    error_message = "A site has 1 to 9 nodes."
  }

  validation {
    condition     = !contains(keys(var.sites), "iowa")
    error_message = "iowa is where the witness stands: name the site otherwise."
  }
}

variable "nodes_per_site" {
  description = "Nodes of every site that names no number of its own."
  type        = number
  default     = 3

  validation {
    condition     = var.nodes_per_site >= 1 && var.nodes_per_site <= 9 && floor(var.nodes_per_site) == var.nodes_per_site
    error_message = "A site has 1 to 9 nodes."
  }
}

variable "founders" {
  description = "The nodes that found the configuration log together; later nodes follow it and get a vote when one is missing. An odd number."
  type        = list(string)
  default     = ["dal-1", "dal-2", "ash-1", "ash-2", "witness-1"]

  validation {
    condition     = length(var.founders) % 2 == 1 && length(distinct(var.founders)) == length(var.founders)
    error_message = "founders is an odd number of different nodes: of an even number half is no majority."
  }

  validation {
    condition     = contains(var.founders, "witness-1")
    error_message = "founders names witness-1: without it one of two sites has the majority, and its loss stops changes in the other."
  }
}

variable "wan_delay" {
  description = "What a packet takes from one site to another, one way. Between Dallas and Ashburn it is about 15 ms."
  type        = string
  default     = "15ms"

  validation {
    condition     = can(regex("^([0-9]{1,3}ms|[0-2]s)$", var.wan_delay))
    error_message = "wan_delay is up to 999ms or 2s, such as 15ms: beyond that heartbeats between sites do not work."
  }
}

variable "document" {
  description = "A cluster document in place of the lab's own: its text, with cluster: lab-ID."
  type        = string
  default     = null

  validation {
    condition     = var.document == null ? true : can(yamldecode(var.document).cluster)
    error_message = "document is the text of a cluster document in YAML; its key cluster says of which cluster it is."
  }
}

variable "node_extra" {
  description = "Keys of every node file, in place of whole sections of the lab, such as {drain = {timeout = \"10m\"}}."
  type        = any
  default     = {}
}
