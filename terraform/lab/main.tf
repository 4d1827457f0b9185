# Two sites and a witness on one machine, each node in a network namespace of its own. Only what is built into
# Terraform is used: no plugin, no network. What destroys a thing must be known to the thing, so it stands in `input`.
terraform {
  required_version = ">= 1.7"
  backend "local" {}
}

# The internet between the sites, the keys of the cluster, and the directory of it all.
resource "terraform_data" "world" {
  input = { down = "${local.world} down '${var.id}'" }

  lifecycle {
    precondition {
      condition     = alltrue([for f in var.founders : contains(keys(local.nodes), f)])
      error_message = "founders names nodes that are not there: ${join(", ", [for f in var.founders : f if !contains(keys(local.nodes), f)])}. Name nodes that stay, or more nodes for their site."
    }
    precondition {
      condition     = yamldecode(local.document).cluster == "lab-${var.id}"
      error_message = "document is of the cluster ${yamldecode(local.document).cluster}: write cluster: lab-${var.id}."
    }
  }

  provisioner "local-exec" {
    command = "${local.world} up '${var.id}' '${local.tandem}'"
  }
  provisioner "local-exec" {
    when    = destroy
    command = self.input.down
  }
}

# A site's router, its PBXs and its carriers.
resource "terraform_data" "site" {
  for_each         = local.places
  input            = { down = "${local.world} unsite '${each.key}'" }
  triggers_replace = [each.value]
  depends_on       = [terraform_data.world]

  provisioner "local-exec" {
    command = "${local.world} site '${each.key}' ${each.value} '${try(var.sites[each.key].code, "wit")}' ${contains(keys(var.sites), each.key) ? 1 : 0}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = self.input.down
  }
}

# The WAN. A link goes with the router at either end.
resource "terraform_data" "link" {
  for_each         = local.links
  input            = { down = "${local.world} unlink '${each.value.a}' '${each.value.b}'" }
  triggers_replace = [terraform_data.site[each.value.a].id, terraform_data.site[each.value.b].id, var.wan_delay]

  provisioner "local-exec" {
    command = "${local.world} link '${each.value.a}' ${each.value.ao} '${each.value.b}' ${each.value.bo} ${var.wan_delay}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = self.input.down
  }
}

# A node's machine. Replacing it gives a node of the same name with an empty disk; its peers are not part of it, so
# that a node more or less replaces no other.
resource "terraform_data" "node" {
  for_each         = local.nodes
  input            = { down = "${local.world} unnode '${each.key}'" }
  triggers_replace = [each.value, terraform_data.site[each.value.site].id]

  provisioner "local-exec" {
    command = "${local.world} node '${each.key}' '${each.value.site}' ${each.value.address} ${each.value.role}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = self.input.down
  }
}

# Its files. They follow what is known of the other nodes; a node reads them when it starts.
resource "terraform_data" "files" {
  for_each         = local.nodes
  triggers_replace = [terraform_data.node[each.key].id, sha256(module.node_config.node_files[each.key])]

  provisioner "local-exec" {
    command = "umask 077 && printf %s \"$NODE\" >node.yaml && printf %s \"$DOCUMENT\" >cluster.yaml"
    environment = {
      NODE     = module.node_config.node_files[each.key]
      DOCUMENT = local.document
    }
    working_dir = "${var.state_dir}/nodes/${each.key}/etc"
  }
}

# The process.
resource "terraform_data" "process" {
  for_each         = local.nodes
  triggers_replace = [terraform_data.node[each.key].id]
  depends_on       = [terraform_data.files, terraform_data.link]

  provisioner "local-exec" {
    command = "${local.lab} start '${each.key}'"
  }
}

# A way to every node for `tandem --context NODE`.
resource "terraform_data" "contexts" {
  triggers_replace = [module.node_config.contexts]
  depends_on       = [terraform_data.world]

  provisioner "local-exec" {
    command     = "printf %s \"$CONTEXTS\" >contexts.yaml"
    environment = { CONTEXTS = module.node_config.contexts }
    working_dir = var.state_dir
  }
}

# The cluster document. The first one founds the cluster; later ones are applied to it.
resource "terraform_data" "document" {
  triggers_replace = [sha256(local.document)]
  depends_on       = [terraform_data.process]

  provisioner "local-exec" {
    command     = "printf %s \"$DOCUMENT\" >cluster.yaml && ${local.lab} apply cluster.yaml"
    environment = { DOCUMENT = local.document }
    working_dir = var.state_dir
  }
}

# The apply is done when calls go through every node. This is asked each time: a process that died is not
# seen by a plan.
resource "terraform_data" "ready" {
  triggers_replace = [timestamp()]
  depends_on       = [terraform_data.document, terraform_data.contexts]

  provisioner "local-exec" {
    command = "${local.lab} ready 90"
  }
}
