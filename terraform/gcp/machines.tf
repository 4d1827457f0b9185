# What the machines are, who may come to them, and what they fetch.

variable "access" {
  description = <<-EOT
    Who may come in, as lists of CIDRs; nobody unless named. `sip`: customers and carriers; ["0.0.0.0/0"] for
    phones that come from anywhere. `ssh`: operators on the machines; ["35.235.240.0/20"] is Google's
    Identity-Aware Proxy. `admin`: the admin API, `metrics`: Prometheus. Nodes reach each other without this.
  EOT
  type = object({
    sip     = optional(list(string), [])
    ssh     = optional(list(string), [])
    admin   = optional(list(string), [])
    metrics = optional(list(string), [])
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for c in flatten(values(var.access)) : can(cidrhost(c, 0))])
    error_message = "access must have CIDRs, a single address as \"192.0.2.10/32\"; these are not: ${join(", ", [for c in flatten(values(var.access)) : c if !can(cidrhost(c, 0))])}."
  }
  validation {
    condition     = alltrue([for c in concat(var.access.ssh, var.access.admin, var.access.metrics) : !endswith(c, "/0")])
    error_message = "access.ssh, admin and metrics must not be open to every address: name the networks of your operators. Only access.sip may be."
  }
}

variable "package" {
  description = "The Debian package: its address, https:// or gs:// (a bucket that the machines are then let into), and its SHA-256."
  type = object({
    url    = string
    sha256 = string
  })
  nullable = false

  validation {
    condition     = can(regex("^(https://|gs://)[^[:space:]'\"]+[.]deb$", var.package.url))
    error_message = "package.url must be the https:// or gs:// address of a .deb, for example \"gs://acme-packages/tandem_1.0.0_amd64.deb\"."
  }
  validation {
    condition     = can(regex("^[0-9a-f]{64}$", var.package.sha256))
    error_message = "package.sha256 must be the 64 small hexadecimal digits that `sha256sum FILE` prints."
  }
}

variable "listeners" {
  description = "Which SIP transports nodes listen on; `tls` needs a certificate for each node's name among the secrets."
  type = object({
    udp = optional(bool, true)
    tcp = optional(bool, true)
    tls = optional(bool, false)
  })
  default  = {}
  nullable = false
}

variable "ports" {
  description = "Ports of all nodes, as in the module node-config."
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
  description = "The machines of the sites: `type`, `image` and how it is told what to do (`init`), the boot disk, and whether they are guarded against deletion."
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
}

variable "witness_machine" {
  description = "The type of the witness's machine; the rest is as in `machine`."
  type        = string
  default     = "e2-small"
  nullable    = false
}

variable "data_disk" {
  description = "The data disk of each node of a site: `type`, and size in `gb`."
  type = object({
    type = optional(string, "pd-ssd")
    gb   = optional(number, 50)
  })
  default  = {}
  nullable = false
}

variable "remote_admin" {
  description = <<-EOT
    Whether nodes serve the admin API to other machines, over TLS and with a token (a secret), at ports.admin. It
    is still closed to all but access.admin.
  EOT
  type        = bool
  default     = true
  nullable    = false
}

variable "extra" {
  description = "Further keys of every node file: see the module node-config. No secrets."
  type        = any
  default     = {}
}

variable "labels" {
  description = "Further labels of all that can have them."
  type        = map(string)
  default     = {}
  nullable    = false
}
