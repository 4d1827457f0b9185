terraform {
  required_version = ">= 1.11" # write-only attributes
  required_providers {
    tandem = { source = "registry.terraform.io/tandem-sbc/tandem" }
  }
}

# Any node takes a change; the next one is asked when one is gone. TANDEM_ADDR and
# TANDEM_TOKEN say the same without a provider block.
provider "tandem" {
  endpoints  = var.endpoints
  token_file = var.token_file
}

variable "endpoints" {
  type        = list(string)
  description = "Admin addresses of nodes: unix:/path, 127.0.0.1:port, https://host:port."
  default     = ["unix:/run/tandem/admin.sock"]
}

variable "token_file" {
  type        = string
  description = "File that holds the admin token of the nodes; null for none."
  default     = null
}
