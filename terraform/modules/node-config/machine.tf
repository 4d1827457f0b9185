# What is on a machine of the cluster: files, listeners, the admin API, the package and the secrets.

variable "paths" {
  description = <<-EOT
    Directories on the machine: `etc` of configuration and keys, `lib` of what must survive a restart, `run` of
    the admin socket, `cdr` the file of call records. "{node}" stands for the name of the node, for several
    nodes on one file system.
  EOT
  type = object({
    etc = optional(string, "/etc/tandem")
    lib = optional(string, "/var/lib/tandem")
    run = optional(string, "/run/tandem")
    cdr = optional(string)
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for p in compact(values(var.paths)) : can(regex("^(/([A-Za-z0-9._-]|[{]node[}])+)+$", p)) && !can(regex("/[.][.]?(/|$)", p))])
    error_message = "paths must be whole paths that begin with '/' and do not end with it, of letters, digits and . _ - {node}, without the parts . and .."
  }
}

variable "listeners" {
  description = "Which SIP transports a node listens on. `tls` needs sip.pem and sip.key beside the node file."
  type = object({
    udp = optional(bool, true)
    tcp = optional(bool, true)
    tls = optional(bool, false)
  })
  default  = {}
  nullable = false

  validation {
    condition     = var.listeners.udp || var.listeners.tcp || var.listeners.tls
    error_message = "listeners has none: let at least one of udp, tcp and tls be true."
  }
}

variable "admin" {
  description = <<-EOT
    The admin API. Without `remote` it answers on the machine alone, by its socket. With it each node serves it
    over TLS at `address` and `ports.admin`, with the node's certificate, to who shows the token of the file
    admin.token. `ca` and `token_file` are paths on the machine of who operates the cluster; they go into the
    contexts. `reach` says by which address: "private" (a VPN), or "public".
  EOT
  type = object({
    remote     = optional(bool, false)
    ca         = optional(string, "tandem-ca/ca.pem")
    token_file = optional(string, "admin.token")
    reach      = optional(string, "private")
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["private", "public"], var.admin.reach)
    error_message = "admin.reach is \"${var.admin.reach}\": write \"private\" or \"public\"."
  }
}

variable "package" {
  description = <<-EOT
    The Debian package: where a machine fetches it, and its SHA-256. Null when the image has it already. The
    machine installs it once: later versions come by docs/upgrade.md, one node at a time.
  EOT
  type = object({
    url    = string
    sha256 = string
  })
  default = null

  validation {
    condition     = var.package == null || can(regex("^(https://|gs://)[A-Za-z0-9._~:/?@+%=&,-]+[.]deb$", var.package.url))
    error_message = "package.url must be the https:// or gs:// address of a .deb, other characters as %XX, for example \"https://downloads.example.com/tandem_1.0.0_amd64.deb\"."
  }
  validation {
    condition     = var.package == null || can(regex("^[0-9a-f]{64}$", var.package.sha256))
    error_message = "package.sha256 must be the 64 small hexadecimal digits that `sha256sum FILE` prints."
  }
}

variable "secrets" {
  description = <<-EOT
    How keys and certificates come to a machine; never through Terraform, whose state anybody who plans can
    read. "files": somebody puts them into `paths.etc`, and the node starts when they are there. "gcp": the
    machine fetches them from Secret Manager of `project` by its own identity. "command": `command` prints the
    secret whose name is its argument. A secret is named PREFIX-cluster-key, PREFIX-NODE-pem and so on; the
    output `secret_names` lists them.
  EOT
  type = object({
    source  = optional(string, "files")
    project = optional(string)
    command = optional(string)
    prefix  = optional(string, "tandem")
  })
  default  = {}
  nullable = false

  validation {
    condition     = contains(["files", "gcp", "command"], var.secrets.source)
    error_message = "secrets.source is \"${var.secrets.source}\": write \"files\", \"gcp\" or \"command\"."
  }
  validation {
    condition     = var.secrets.source != "gcp" && var.secrets.project == null || can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.secrets.project))
    error_message = "secrets.project must be the id of the project whose Secret Manager has the secrets, for example \"example-sbc\"; secrets.source = \"gcp\" needs it."
  }
  validation {
    condition     = var.secrets.source != "command" && var.secrets.command == null || can(regex("^/[A-Za-z0-9/._-]+( [A-Za-z0-9/._=:-]+)*$", var.secrets.command))
    error_message = "secrets.command must be a program by its whole path, with plain arguments, that prints the secret named by one more argument, for example \"/usr/local/bin/fetch-secret --raw\"."
  }
  validation {
    condition     = can(regex("^[A-Za-z0-9_-]{1,100}$", var.secrets.prefix))
    error_message = "secrets.prefix must be of letters, digits, '-' and '_', as names in Secret Manager are."
  }
}

variable "data_disk" {
  description = <<-EOT
    The disk of `paths.lib`, which outlives the machine; null when there is none. It is formatted only when it
    has no file system, and found by its label afterwards. A machine without it starts (nofail), but the node
    does not.
  EOT
  type = object({
    device     = optional(string, "/dev/disk/by-id/google-tandem-data")
    label      = optional(string, "tandem-data")
    filesystem = optional(string, "ext4")
  })
  default = null

  validation {
    condition     = var.data_disk == null || can(regex("^(/[A-Za-z0-9_:-][A-Za-z0-9._:-]*)+$", var.data_disk.device)) && startswith(try(var.data_disk.device, ""), "/dev/")
    error_message = "data_disk.device must be a path under /dev that stays the same, for example \"/dev/disk/by-id/google-tandem-data\"."
  }
  validation {
    condition     = var.data_disk == null || can(regex("^[A-Za-z0-9_-]{1,12}$", var.data_disk.label))
    error_message = "data_disk.label must have 1 to 12 letters, digits, '-' or '_', which every file system takes."
  }
  validation {
    condition     = var.data_disk == null || contains(["ext4", "xfs"], try(var.data_disk.filesystem, ""))
    error_message = "data_disk.filesystem must be \"ext4\" or \"xfs\"."
  }
}

variable "extra" {
  description = <<-EOT
    Further keys of every node file (docs/configuration.md): what stands in a section is merged into it, key by
    key, and wins. No secrets: they would stand in the state. For example {log = {level = "debug"}}. With
    a drain.timeout above 10m raise TimeoutStopSec of the unit too.
  EOT
  type        = any
  default     = {}

  validation {
    condition     = can(keys(var.extra))
    error_message = "extra must be a map of keys of the node file, for example {log = {level = \"debug\"}}."
  }
  validation {
    condition     = !can(var.extra.cluster.key)
    error_message = "extra.cluster.key would put the cluster's secret into the state: nodes read it from the file cluster.key."
  }
  validation {
    condition     = length(setintersection(try(keys(var.extra), []), ["name", "site", "witness", "listeners", "interconnect"])) == 0
    error_message = "extra may not set name, site, witness, listeners or interconnect: they come from nodes, listeners and ports. Use node_extra for a node that differs."
  }
}

variable "node_extra" {
  description = "Like `extra`, for single nodes: a map of names of nodes to keys, which win over `extra`."
  type        = any
  default     = {}

  validation {
    condition     = can(keys(var.node_extra)) && alltrue([for v in try(values(var.node_extra), []) : can(keys(v))])
    error_message = "node_extra must be a map of nodes to maps of keys, for example {\"dal-1\" = {log = {level = \"debug\"}}}."
  }
  validation {
    condition     = alltrue([for v in try(values(var.node_extra), []) : !can(v.cluster.key)])
    error_message = "node_extra may not have cluster.key, which would put the cluster's secret into the state: nodes read it from the file cluster.key."
  }
}
