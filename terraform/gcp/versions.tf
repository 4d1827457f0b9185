terraform {
  required_version = ">= 1.9" # validations that look at several variables

  required_providers {
    google = {
      # With its host, so that OpenTofu asks for the same provider.
      source  = "registry.terraform.io/hashicorp/google"
      version = "~> 6.50"
    }
  }

  # Where the state is kept is yours to say: docs/deploy-gcp.md. No secret is in it.
}

provider "google" {
  project = var.project
}
