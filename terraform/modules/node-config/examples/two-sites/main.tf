# Two sites of three nodes and a witness: docs/deploy.md walks through it, and `make terraform` checks everything
# that it renders. Copy it, put your own names and addresses in, and say `terraform apply`: it writes nothing but
# its outputs, which any way of making machines can take from there.

terraform {
  required_version = ">= 1.7"
}

variable "root" {
  description = "A directory that stands before the paths of the machine, to look at what is rendered; {node} stands for the node."
  type        = string
  default     = ""
}

module "cluster" {
  source = "../.."

  cluster = {
    id      = "example"
    realm   = "sip.example.net"
    domains = ["sip.example.com"]
    # Read while the cluster has no document yet, and not needed afterwards.
    document = var.root == "" ? null : "${var.root}/etc/tandem/cluster.yaml"
  }

  sites = {
    dallas  = { peers = ["ashburn"] }
    ashburn = { peers = ["dallas"] }
  }

  nodes = {
    dal-1 = { site = "dallas", address = "10.10.0.11", public_address = "192.0.2.11", voter = true, admits = true }
    dal-2 = { site = "dallas", address = "10.10.0.12", public_address = "192.0.2.12", voter = true }
    dal-3 = { site = "dallas", address = "10.10.0.13", public_address = "192.0.2.13" }

    ash-1 = { site = "ashburn", address = "10.20.0.11", public_address = "198.51.100.11", voter = true, admits = true }
    ash-2 = { site = "ashburn", address = "10.20.0.12", public_address = "198.51.100.12", voter = true }
    ash-3 = { site = "ashburn", address = "10.20.0.13", public_address = "198.51.100.13" }

    # In a third place, so that three of five votes are left whichever of them is lost.
    witness-1 = { site = "chicago", role = "witness", address = "10.30.0.11", voter = true }
  }

  listeners = { tls = true }
  admin     = { remote = true }

  paths = {
    etc = "${var.root}/etc/tandem"
    lib = "${var.root}/var/lib/tandem"
    run = "${var.root}/run/tandem"
  }

  package = {
    url    = "https://downloads.example.net/tandem_1.0.0_amd64.deb"
    sha256 = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
  }
  secrets   = { source = "command", command = "/usr/local/bin/fetch-secret --raw" }
  data_disk = { device = "/dev/disk/by-id/virtio-tandem-data" }

  extra = { cdr = { keep = "720h" } }
}

output "cluster" {
  description = "Everything that node-config renders."
  value       = module.cluster
}
