# Values that would mean something to a shell, to YAML or to a path are refused by their variable, used or not.
variables {
  cluster = { id = "example", realm = "sip.example.net" }
  sites   = { dallas = { peers = ["ashburn"] }, ashburn = { peers = ["dallas"] } }
  nodes = {
    dal-1     = { site = "dallas", address = "10.10.0.11" }
    ash-1     = { site = "ashburn", address = "10.20.0.11" }
    witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
  }
}

run "project_ends_the_quotes" {
  command = plan
  variables {
    secrets = { source = "files", project = "x'; touch /tmp/x; '" }
  }
  expect_failures = [var.secrets]
}

run "command_of_another_source" {
  command = plan
  variables {
    secrets = { source = "files", command = "/bin/true'\ntouch /tmp/x\n'" }
  }
  expect_failures = [var.secrets]
}

run "command_with_a_substitution" {
  command = plan
  variables {
    secrets = { source = "command", command = "/bin/echo $(id)" }
  }
  expect_failures = [var.secrets]
}

run "prefix_with_a_space" {
  command = plan
  variables {
    secrets = { prefix = "a b" }
  }
  expect_failures = [var.secrets]
}

run "path_that_braces_expand" {
  command = plan
  variables {
    paths = { etc = "/etc/{a..c}" }
  }
  expect_failures = [var.paths]
}

run "path_that_climbs" {
  command = plan
  variables {
    paths = { lib = "/var/lib/../../etc" }
  }
  expect_failures = [var.paths]
}

run "path_with_a_line_break" {
  command = plan
  variables {
    paths = { etc = "/etc/tandem\nrm" }
  }
  expect_failures = [var.paths]
}

run "package_with_a_substitution" {
  command = plan
  variables {
    package = { url = "https://example.net/$(id).deb", sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }
  }
  expect_failures = [var.package]
}

run "package_that_curl_expands" {
  command = plan
  variables {
    package = { url = "https://example.net/{a,b}[1-9].deb", sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" }
  }
  expect_failures = [var.package]
}

run "disk_that_climbs" {
  command = plan
  variables {
    data_disk = { device = "/dev/../etc/passwd" }
  }
  expect_failures = [var.data_disk]
}

run "label_with_a_line" {
  command = plan
  variables {
    data_disk = { label = "a\nb" }
  }
  expect_failures = [var.data_disk]
}

run "document_with_a_line" {
  command = plan
  variables {
    cluster = { id = "example", realm = "-", document = "/etc/x\n- y" }
  }
  expect_failures = [var.cluster]
}

run "realm_with_a_line" {
  command = plan
  variables {
    cluster = { id = "example", realm = "x\nid: y" }
  }
  expect_failures = [var.cluster]
}

run "realm_with_a_quote" {
  command = plan
  variables {
    cluster = { id = "example", realm = "x\"y" }
  }
  expect_failures = [var.cluster]
}

run "place_of_a_witness" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { role = "witness", address = "10.30.0.11", site = "third: [\n$(id)" }
    }
  }
  expect_failures = [var.nodes]
}

run "address_with_zeros" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "010.10.0.11" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "one_address_in_two_spellings" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "2001:db8::1" }
      ash-1     = { site = "ashburn", address = "2001:DB8:0::1" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "one_public_address_in_two_spellings" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", public_address = "2001:db8::1" }
      ash-1     = { site = "ashburn", address = "10.20.0.11", public_address = "2001:DB8:0::1" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "address_with_a_zone" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "fe80::1%eth0" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}

run "public_name_with_a_substitution" {
  command = plan
  variables {
    nodes = {
      dal-1     = { site = "dallas", address = "10.10.0.11", public_name = "$(id).example.net" }
      ash-1     = { site = "ashburn", address = "10.20.0.11" }
      witness-1 = { site = "third", role = "witness", address = "10.30.0.11" }
    }
  }
  expect_failures = [var.nodes]
}
