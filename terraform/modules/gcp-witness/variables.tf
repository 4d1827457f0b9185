variable "cluster" {
  description = "Name of the cluster; it begins the names of what is made here."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$", var.cluster))
    error_message = "cluster is \"${var.cluster}\": names at Google begin with a letter and are of a-z, 0-9 and '-'; 20 at most leaves room for what follows."
  }
}

variable "witness" {
  description = <<-EOT
    The witness: its `name` and private `address`, the `zone` in a region where no site is, and the `cidr` of
    its subnet, and its identity `service_account`. It votes and carries no calls.
  EOT
  type = object({
    name            = string
    zone            = string
    cidr            = string
    address         = string
    service_account = string
  })
  nullable = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", var.witness.zone))
    error_message = "witness.zone is \"${var.witness.zone}\": write the region, '-' and a letter, for example \"us-central1-a\"."
  }
  validation {
    condition     = can(cidrhost(var.witness.cidr, 3)) && try(cidrhost("${var.witness.address}/${split("/", var.witness.cidr)[1]}", 0) == split("/", var.witness.cidr)[0], false)
    error_message = "witness.address (${var.witness.address}) must be inside witness.cidr (${var.witness.cidr}), which begins with the first address of its network, for example \"10.30.0.11\" and \"10.30.0.0/24\"."
  }
}

variable "user_data" {
  description = "What the machine is told at its start: cloud_init or startup_scripts of the module node-config."
  type        = string
  nullable    = false
}

variable "network" {
  description = "Self link of the network of the whole cluster."
  type        = string
  nullable    = false
}

variable "access" {
  description = "Who may come in, as lists of CIDRs, nobody unless named: see the module gcp-site. A witness takes no calls."
  type = object({
    ssh     = optional(list(string), [])
    admin   = optional(list(string), [])
    metrics = optional(list(string), [])
    nodes   = optional(list(string), [])
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for c in flatten(values(var.access)) : can(cidrhost(c, 0)) && !endswith(c, "/0")])
    error_message = "access must have CIDRs, and none that is open to every address; look at: ${join(", ", [for c in flatten(values(var.access)) : c if !can(cidrhost(c, 0)) || endswith(c, "/0")])}."
  }
}

variable "ports" {
  description = "Ports of the nodes, as in the module node-config."
  type = object({
    interconnect = optional(number, 7950)
    gossip       = optional(number, 7946)
    metrics      = optional(number, 9060)
    admin        = optional(number, 8443)
  })
  default  = {}
  nullable = false
}

variable "machine" {
  description = "The machine: see the module gcp-node."
  type = object({
    type                = optional(string, "e2-small")
    image               = optional(string, "ubuntu-os-cloud/ubuntu-2404-lts-amd64")
    init                = optional(string, "cloud-init")
    boot_disk_gb        = optional(number, 10)
    deletion_protection = optional(bool, true)
  })
  default  = {}
  nullable = false
}

variable "data_disk" {
  description = "The data disk: `type` and size in `gb`."
  type = object({
    type = optional(string, "pd-ssd")
    gb   = optional(number, 10)
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
