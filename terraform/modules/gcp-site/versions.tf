terraform {
  required_version = ">= 1.7"

  required_providers {
    google = {
      # With its host, so that OpenTofu asks for the same provider.
      source  = "registry.terraform.io/hashicorp/google"
      version = "~> 6.50"
    }
  }
}
