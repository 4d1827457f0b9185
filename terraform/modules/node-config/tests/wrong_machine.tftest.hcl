# Machines that are wrong, one fault at a time: each is refused by its variable.
variables {
  cluster = { id = "example", realm = "sip.example.net" }
  sites   = { dallas = { peers = ["ashburn"] }, ashburn = { peers = ["dallas"] } }
  nodes = {
    dal-1     = { site = "dallas", address = "10.10.0.11" }
    ash-1     = { site = "ashburn", address = "10.20.0.11" }
    witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
  }
}

run "path_is_relative" {
  command = plan
  variables {
    paths = { etc = "tandem" }
  }
  expect_failures = [var.paths]
}

run "path_with_a_quote" {
  command = plan
  variables {
    paths = { etc = "/etc/tan'dem" }
  }
  expect_failures = [var.paths]
}

run "no_listeners" {
  command = plan
  variables {
    listeners = { udp = false, tcp = false }
  }
  expect_failures = [var.listeners]
}

run "admin_reach" {
  command = plan
  variables {
    admin = { reach = "anywhere" }
  }
  expect_failures = [var.admin]
}

run "package_by_plain_http" {
  command = plan
  variables {
    package = { url = "http://example.net/tandem.deb", sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }
  }
  expect_failures = [var.package]
}

run "package_is_no_deb" {
  command = plan
  variables {
    package = { url = "https://example.net/tandem.tar.gz", sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }
  }
  expect_failures = [var.package]
}

run "package_without_sum" {
  command = plan
  variables {
    package = { url = "https://example.net/tandem.deb", sha256 = "" }
  }
  expect_failures = [var.package]
}

run "secrets_source" {
  command = plan
  variables {
    secrets = { source = "vault" }
  }
  expect_failures = [var.secrets]
}

run "secrets_of_no_project" {
  command = plan
  variables {
    secrets = { source = "gcp" }
  }
  expect_failures = [var.secrets]
}

run "secrets_by_no_command" {
  command = plan
  variables {
    secrets = { source = "command" }
  }
  expect_failures = [var.secrets]
}

run "secrets_by_a_command_of_the_shell" {
  command = plan
  variables {
    secrets = { source = "command", command = "/bin/cat /etc/a; rm b" }
  }
  expect_failures = [var.secrets]
}

run "secrets_prefix" {
  command = plan
  variables {
    secrets = { prefix = "a.b" }
  }
  expect_failures = [var.secrets]
}

run "data_disk_device" {
  command = plan
  variables {
    data_disk = { device = "sdb" }
  }
  expect_failures = [var.data_disk]
}

run "data_disk_label" {
  command = plan
  variables {
    data_disk = { label = "a-label-that-is-too-long" }
  }
  expect_failures = [var.data_disk]
}

run "data_disk_filesystem" {
  command = plan
  variables {
    data_disk = { filesystem = "btrfs" }
  }
  expect_failures = [var.data_disk]
}

run "extra_is_text" {
  command = plan
  variables {
    extra = "log"
  }
  expect_failures = [var.extra]
}

run "extra_has_the_key" {
  command = plan
  variables {
    extra = { cluster = { key = "c2VjcmV0" } }
  }
  expect_failures = [var.extra]
}

run "extra_has_a_name" {
  command = plan
  variables {
    extra = { name = "dal-1" }
  }
  expect_failures = [var.extra]
}

run "node_extra_is_no_map_of_maps" {
  command = plan
  variables {
    node_extra = { dal-1 = "debug" }
  }
  expect_failures = [var.node_extra]
}

run "node_extra_has_the_key" {
  command = plan
  variables {
    node_extra = { dal-1 = { cluster = { key = "c2VjcmV0" } } }
  }
  expect_failures = [var.node_extra]
}
