# Identities of the machines, places for the secrets, and who may read which. What is in them is put there by hand
# (docs/deploy-gcp.md) and never comes by here: a state would show it to whoever plans.

locals {
  # Every secret with the nodes that need it.
  readers = transpose({ for n, files in module.node_config.secret_names : n => values(files) })
  reads   = merge([for secret, nodes in local.readers : { for n in nodes : "${secret} ${n}" => { secret = secret, node = n } }]...)

  machines = concat(keys(local.placed), [var.witness.name])
  bucket   = startswith(var.package.url, "gs://") ? regex("^gs://([^/]+)/", var.package.url)[0] : null
}

# An identity for each machine, so that it can read its own secrets and no other's. It has no role in the project.
resource "google_service_account" "node" {
  for_each = toset(local.machines)

  account_id   = "${var.cluster.id}-${each.key}"
  display_name = "Node ${each.key} of the cluster ${var.cluster.id}"

  lifecycle {
    precondition {
      condition     = length("${var.cluster.id}-${each.key}") >= 6 && length("${var.cluster.id}-${each.key}") <= 30
      error_message = "\"${var.cluster.id}-${each.key}\" would be the name of a service account, which has 6 to 30 characters: choose another cluster.id or other names of nodes."
    }
  }
}

resource "google_secret_manager_secret" "file" {
  for_each = local.readers

  secret_id = each.key
  labels    = local.labels

  replication {
    auto {}
  }
}

resource "google_secret_manager_secret_iam_member" "reader" {
  for_each = local.reads

  secret_id = google_secret_manager_secret.file[each.value.secret].id
  role      = "roles/secretmanager.secretAccessor"
  member    = "serviceAccount:${google_service_account.node[each.value.node].email}"
}

resource "google_storage_bucket_iam_member" "package" {
  for_each = local.bucket == null ? [] : toset(local.machines)

  bucket = local.bucket
  role   = "roles/storage.objectViewer"
  member = "serviceAccount:${google_service_account.node[each.key].email}"
}
