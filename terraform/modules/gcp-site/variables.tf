variable "cluster" {
  description = "Name of the cluster; it begins the names of what is made here."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$", var.cluster))
    error_message = "cluster is \"${var.cluster}\": names at Google begin with a letter and are of a-z, 0-9 and '-'; 20 at most leaves room for what follows."
  }
}

variable "site" {
  description = <<-EOT
    The site: `name`, `region`, its `zones`, over which nodes are spread, and the `cidr` of its subnet. Nodes of
    a region with three zones lose one in three with a zone.
  EOT
  type = object({
    name   = string
    region = string
    zones  = list(string)
    cidr   = string
  })
  nullable = false

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$", var.site.name))
    error_message = "site.name is \"${var.site.name}\": use a-z, 0-9 and '-', 20 at most, for example \"dallas\"."
  }
  validation {
    condition     = length(var.site.zones) > 0 && alltrue([for z in var.site.zones : can(regex("^${var.site.region}-[a-z]$", z))])
    error_message = "site.zones must be zones of ${var.site.region}, for example [\"${var.site.region}-a\", \"${var.site.region}-b\"]; these are not: ${join(", ", [for z in var.site.zones : z if !can(regex("^${var.site.region}-[a-z]$", z))])}."
  }
  validation {
    condition     = length(distinct(var.site.zones)) == length(var.site.zones)
    error_message = "site.zones must name each zone once."
  }
  validation {
    condition     = can(cidrhost(var.site.cidr, 255)) && try(cidrhost(var.site.cidr, 0) == split("/", var.site.cidr)[0], false)
    error_message = "site.cidr is \"${var.site.cidr}\": write the first address of a network of /24 or larger and its length, for example \"10.10.0.0/24\"."
  }
}

variable "nodes" {
  description = <<-EOT
    The nodes of the site by name: the private address, which is reserved here, the public one, which is reserved
    by who calls this module since `user_data` has it in it, the zone that the node stands in, and its identity,
    which has been let in where its secrets are before it starts.
  EOT
  type = map(object({
    address         = string
    public_address  = string
    zone            = string
    service_account = string
  }))
  nullable = false

  validation {
    condition     = length(var.nodes) > 0
    error_message = "nodes is empty: a site has at least one, and two to lose one without a lost call."
  }
  validation {
    condition     = length(distinct([for n in values(var.nodes) : n.address])) == length(var.nodes)
    error_message = "Each of nodes needs an address of its own."
  }
}

variable "user_data" {
  description = "By node, what its machine is told at its start: cloud_init or startup_scripts of the module node-config."
  type        = map(string)
  nullable    = false
}

variable "network" {
  description = "Self link of the network of the whole cluster."
  type        = string
  nullable    = false
}

variable "front" {
  description = <<-EOT
    Where calls to the site come in. "srv": at the nodes' own public addresses, which SRV records name with
    priority and weight. "nlb": at one address, from which a passthrough load balancer spreads sources over the
    nodes that are ready; inside a call everything goes to the node's own address.
  EOT
  type        = string
  default     = "srv"
  nullable    = false

  validation {
    condition     = contains(["srv", "nlb"], var.front)
    error_message = "front is \"${var.front}\": write \"srv\" or \"nlb\"."
  }
}

variable "front_address" {
  description = "The address of the load balancer, reserved by who calls this module; null with front = \"srv\"."
  type        = string
  default     = null
}

variable "affinity" {
  description = <<-EOT
    What keeps a source on one node of the load balancer: "CLIENT_IP" (its address), or "CLIENT_IP_PORT_PROTO"
    (address and port). The second spreads a customer with many phones behind one address, and parts the
    fragments of large UDP messages. "NONE" would part the retransmissions of one request from it.
  EOT
  type        = string
  default     = "CLIENT_IP"
  nullable    = false

  validation {
    condition     = contains(["CLIENT_IP", "CLIENT_IP_PORT_PROTO"], var.affinity)
    error_message = "affinity is \"${var.affinity}\": write \"CLIENT_IP\" or \"CLIENT_IP_PORT_PROTO\". Without affinity a retransmission may reach another node than its request."
  }
}

variable "access" {
  description = <<-EOT
    Who may come in, as lists of CIDRs; nobody unless named. `sip`: customers and carriers, to the SIP ports.
    `ssh`: operators, to port 22 ("35.235.240.0/20" is Google's Identity-Aware Proxy). `admin`: operators, to the
    admin API. `metrics`: Prometheus. `nodes`: the subnets of all nodes of the cluster.
  EOT
  type = object({
    sip     = optional(list(string), [])
    ssh     = optional(list(string), [])
    admin   = optional(list(string), [])
    metrics = optional(list(string), [])
    nodes   = optional(list(string), [])
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for c in flatten(values(var.access)) : can(cidrhost(c, 0))])
    error_message = "access must have CIDRs, a single address as \"192.0.2.10/32\"; these are not: ${join(", ", [for c in flatten(values(var.access)) : c if !can(cidrhost(c, 0))])}."
  }
  validation {
    condition     = alltrue([for c in concat(var.access.ssh, var.access.admin, var.access.metrics, var.access.nodes) : !endswith(c, "/0")])
    error_message = "access.ssh, admin, metrics and nodes must not be open to every address: name the networks. Only access.sip may be, for phones that come from anywhere."
  }
}

variable "ports" {
  description = "Ports of the nodes, as in the module node-config."
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
}

variable "machine" {
  description = "The machines: see the module gcp-node."
  type = object({
    type                = optional(string, "n2-standard-4")
    image               = optional(string, "ubuntu-os-cloud/ubuntu-2404-lts-amd64")
    init                = optional(string, "cloud-init")
    boot_disk_gb        = optional(number, 20)
    deletion_protection = optional(bool, true)
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["cloud-init", "startup-script"], var.machine.init)
    error_message = "machine.init is \"${var.machine.init}\": write \"cloud-init\" for images that have it, such as Ubuntu's, or \"startup-script\" for Debian's."
  }
  validation {
    condition     = !(var.machine.init == "cloud-init" && strcontains(var.machine.image, "debian-cloud"))
    error_message = "machine.image is ${var.machine.image}: Debian's images at Google have no cloud-init. Set machine.init = \"startup-script\", or take Ubuntu's."
  }
}

variable "data_disk" {
  description = "The data disk of each node: `type` and size in `gb`."
  type = object({
    type = optional(string, "pd-ssd")
    gb   = optional(number, 50)
  })
  default  = {}
  nullable = false
}

variable "labels" {
  description = "Further labels of all that can have them."
  type        = map(string)
  default     = {}
  nullable    = false
}
