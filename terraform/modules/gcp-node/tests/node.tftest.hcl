# One machine. The provider is a mock with the real one's schema.

mock_provider "google" {}

variables {
  name            = "dal-1"
  cluster         = "example"
  zone            = "us-south1-b"
  subnetwork      = "projects/acme-voice/regions/us-south1/subnetworks/example-dallas"
  address         = "10.10.0.11"
  public          = true
  public_address  = "192.0.2.11"
  service_account = "dal-1@acme-voice.iam.gserviceaccount.com"
  machine         = { type = "n2-standard-4", image = "ubuntu-os-cloud/ubuntu-2404-lts-amd64", init = "cloud-init", boot_disk_gb = 20, deletion_protection = true }
  data_disk       = { type = "pd-ssd", gb = 50 }
  user_data       = "#cloud-config\n{}"
  tags            = ["example-dallas-sbc"]
  labels          = { tandem-cluster = "example" }
}

run "guarded" {
  command = plan

  assert {
    condition     = google_compute_instance.node.shielded_instance_config[0].enable_secure_boot && google_compute_instance.node.shielded_instance_config[0].enable_vtpm && google_compute_instance.node.shielded_instance_config[0].enable_integrity_monitoring
    error_message = "The machine boots what was signed, and says when it did not."
  }
  assert {
    condition     = google_compute_instance.node.metadata["serial-port-enable"] == "FALSE" && google_compute_instance.node.metadata["enable-oslogin"] == "TRUE" && google_compute_instance.node.metadata["block-project-ssh-keys"] == "TRUE"
    error_message = "Nobody comes in by the serial port or by a key of the project: IAM says who is an operator."
  }
  assert {
    condition     = google_compute_instance.node.deletion_protection && !google_compute_instance.node.can_ip_forward
    error_message = "The machine is guarded against deletion, and forwards nothing."
  }
  assert {
    condition     = google_compute_instance.node.service_account[0].email == "dal-1@acme-voice.iam.gserviceaccount.com"
    error_message = "The machine has the identity that it was given, not the project's."
  }
}

run "addresses_and_disk" {
  command = plan

  assert {
    condition     = google_compute_address.private.address == "10.10.0.11" && google_compute_address.private.address_type == "INTERNAL" && google_compute_address.private.region == "us-south1"
    error_message = "The private address is reserved in the region of the zone."
  }
  assert {
    condition     = google_compute_instance.node.network_interface[0].network_ip == "10.10.0.11" && google_compute_instance.node.network_interface[0].access_config[0].nat_ip == "192.0.2.11"
    error_message = "The machine has the reserved addresses."
  }
  assert {
    condition     = google_compute_disk.data.type == "pd-ssd" && google_compute_disk.data.size == 50 && google_compute_disk.data.zone == "us-south1-b" && google_compute_instance.node.attached_disk[0].device_name == "tandem-data"
    error_message = "The data disk is one of its own, in the machine's zone, under the name that the machine looks for."
  }
}

run "without_a_public_address" {
  command = plan

  variables {
    public         = false
    public_address = null
  }

  assert {
    condition     = length(google_compute_instance.node.network_interface[0].access_config) == 0
    error_message = "A machine without a public address has none of Google's choice either."
  }
}

run "told_by_cloud_init" {
  command = plan

  assert {
    condition     = google_compute_instance.node.metadata["user-data"] == "#cloud-config\n{}" && !contains(keys(google_compute_instance.node.metadata), "startup-script")
    error_message = "An image with cloud-init reads user-data."
  }
}

run "told_by_a_startup_script" {
  command = plan

  variables {
    machine   = { type = "n2-standard-4", image = "debian-cloud/debian-12", init = "startup-script", boot_disk_gb = 20, deletion_protection = true }
    user_data = "#!/usr/bin/env bash\n"
  }

  assert {
    condition     = google_compute_instance.node.metadata["startup-script"] == "#!/usr/bin/env bash\n" && !contains(keys(google_compute_instance.node.metadata), "user-data")
    error_message = "Debian's images run a startup script."
  }
}

run "name_with_capitals" {
  command = plan

  variables {
    name = "Dal-1"
  }
  expect_failures = [var.name]
}

run "region_and_no_zone" {
  command = plan

  variables {
    zone = "us-south1"
  }
  expect_failures = [var.zone]
}

run "init_by_another_name" {
  command = plan

  variables {
    machine = { type = "n2-standard-4", image = "x/y", init = "ansible", boot_disk_gb = 20, deletion_protection = true }
  }
  expect_failures = [var.machine]
}

run "boot_disk_too_small" {
  command = plan

  variables {
    machine = { type = "n2-standard-4", image = "x/y", init = "cloud-init", boot_disk_gb = 5, deletion_protection = true }
  }
  expect_failures = [var.machine]
}

run "slow_disk" {
  command = plan

  variables {
    data_disk = { type = "pd-standard", gb = 50 }
  }
  expect_failures = [var.data_disk]
}

run "disk_too_small" {
  command = plan

  variables {
    data_disk = { type = "pd-ssd", gb = 5 }
  }
  expect_failures = [var.data_disk]
}
