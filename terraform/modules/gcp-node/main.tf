# One machine of the cluster: its private address, its data disk, and itself.

locals {
  region = regex("^(.+)-[a-z]$", var.zone)[0]
  prefix = "${var.cluster}-${var.name}"
}

resource "google_compute_address" "private" {
  name         = "${local.prefix}-private"
  region       = local.region
  address_type = "INTERNAL"
  subnetwork   = var.subnetwork
  address      = var.address
  labels       = var.labels
}

resource "google_compute_disk" "data" {
  name   = "${local.prefix}-data"
  zone   = var.zone
  type   = var.data_disk.type
  size   = var.data_disk.gb
  labels = var.labels

  lifecycle {
    prevent_destroy = true
  }
}

resource "google_compute_instance" "node" {
  name                      = local.prefix
  zone                      = var.zone
  machine_type              = var.machine.type
  tags                      = var.tags
  labels                    = var.labels
  can_ip_forward            = false
  deletion_protection       = var.machine.deletion_protection
  allow_stopping_for_update = true

  boot_disk {
    initialize_params {
      image = var.machine.image
      size  = var.machine.boot_disk_gb
      type  = "pd-balanced"
    }
  }

  attached_disk {
    source      = google_compute_disk.data.self_link
    device_name = "tandem-data" # /dev/disk/by-id/google-tandem-data
    mode        = "READ_WRITE"
  }

  network_interface {
    subnetwork = var.subnetwork
    network_ip = google_compute_address.private.address

    dynamic "access_config" {
      for_each = var.public ? ["address"] : []
      content {
        nat_ip       = var.public_address
        network_tier = "PREMIUM"
      }
    }
  }

  metadata = {
    (var.machine.init == "cloud-init" ? "user-data" : "startup-script") = var.user_data

    enable-oslogin         = "TRUE"
    block-project-ssh-keys = "TRUE"
    serial-port-enable     = "FALSE"
  }

  service_account {
    email  = var.service_account
    scopes = ["cloud-platform"] # what it may do is said by IAM alone
  }

  shielded_instance_config {
    enable_secure_boot          = true
    enable_vtpm                 = true
    enable_integrity_monitoring = true
  }

  # A machine moves to another host with a pause of well under a second; the other nodes wait for longer than that.
  scheduling {
    automatic_restart   = true
    on_host_maintenance = "MIGRATE"
  }
}
