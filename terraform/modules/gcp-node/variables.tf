variable "name" {
  description = "Name of the node and of its machine, unique in the project."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$", var.name))
    error_message = "name is \"${var.name}\": names of machines begin with a letter and are of a-z, 0-9 and '-', here 40 at most, for example \"dal-1\"."
  }
}

variable "cluster" {
  description = "Name of the cluster; it begins the names of what belongs to the machine."
  type        = string
  nullable    = false
}

variable "zone" {
  description = "Zone of the machine and of its disk, for example \"us-south1-a\"."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+-[a-z]$", var.zone))
    error_message = "zone is \"${var.zone}\": write the region, '-' and a letter, for example \"us-south1-a\"."
  }
}

variable "subnetwork" {
  description = "Self link of the subnet."
  type        = string
  nullable    = false
}

variable "address" {
  description = "Private address, reserved before the machine boots: the other nodes' files name it."
  type        = string
  nullable    = false
}

variable "public" {
  description = "Whether it has a public address. A plan knows this before it knows the address."
  type        = bool
  nullable    = false
}

variable "public_address" {
  description = "The public address, reserved by who calls this module; null without one."
  type        = string
  default     = null
}

variable "service_account" {
  description = "Address of the machine's identity, which is let in where its secrets and the package are."
  type        = string
  nullable    = false
}

variable "machine" {
  description = <<-EOT
    Type of the machine, image, size of the boot disk, and whether deleting the machine needs
    `deletion_protection = false` first. The image must have cloud-init when `init` is "cloud-init" (Ubuntu's);
    Debian's at Google has none and takes "startup-script".
  EOT
  type = object({
    type                = string
    image               = string
    init                = string
    boot_disk_gb        = number
    deletion_protection = bool
  })
  nullable = false

  validation {
    condition     = contains(["cloud-init", "startup-script"], var.machine.init)
    error_message = "machine.init is \"${var.machine.init}\": write \"cloud-init\" for images that have it, such as Ubuntu's, or \"startup-script\" for Debian's."
  }
  validation {
    condition     = var.machine.boot_disk_gb >= 10 && floor(var.machine.boot_disk_gb) == var.machine.boot_disk_gb
    error_message = "machine.boot_disk_gb must be a whole number of 10 or more: an image needs as much."
  }
}

variable "data_disk" {
  description = "Disk of what must survive the machine: the configuration log, and the call records until they are fetched."
  type = object({
    type = string
    gb   = number
  })
  nullable = false

  validation {
    condition     = contains(["pd-ssd", "pd-balanced", "hyperdisk-balanced"], var.data_disk.type)
    error_message = "data_disk.type is \"${var.data_disk.type}\": write \"pd-ssd\", \"pd-balanced\" or \"hyperdisk-balanced\". The configuration log waits for each write, for which pd-standard is too slow."
  }
  validation {
    condition     = var.data_disk.gb >= 10 && floor(var.data_disk.gb) == var.data_disk.gb
    error_message = "data_disk.gb must be a whole number of 10 or more."
  }
}

variable "user_data" {
  description = "What the machine is told at its start: of the module node-config, cloud_init or startup_scripts as `machine.init` says."
  type        = string
  nullable    = false
}

variable "tags" {
  description = "Network tags, which firewall rules go by."
  type        = list(string)
  nullable    = false
}

variable "labels" {
  description = "Labels of all that belongs to the machine."
  type        = map(string)
  nullable    = false
}
