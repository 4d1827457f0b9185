# What a machine is told at its first start: as user-data of cloud-init, and as a startup script with the
# same files for images without it. Neither has a secret in it: setup.sh fetches them on the machine.

locals {
  # A secret by the file that it becomes. A node that joins makes its own key and is given the rest.
  secret_files = { for k, n in var.nodes : k => concat(
    n.join ? ["join.token"] : ["cluster.key"],
    !n.join && (local.tls || var.admin.remote) ? ["${k}.pem", "${k}.key", "ca.pem"] : [],
    n.admits ? ["ca.key"] : [],
    var.admin.remote ? ["admin.token"] : [],
    var.listeners.tls && n.role == "sbc" ? ["sip.pem", "sip.key"] : [],
  ) }
  # Files of one node bear its name; the join token and the SIP certificate are of one node too.
  own_files = ["join.token", "sip.pem", "sip.key"]
  secret_names = { for k, files in local.secret_files : k => {
    for f in files : f => join("-", concat([var.secrets.prefix], contains(local.own_files, f) ? [k] : [], [replace(f, ".", "-")]))
  } }

  settings = { for k, n in var.nodes : k => {
    NODE            = k
    ETC             = local.dirs[k].etc
    LIB             = local.dirs[k].lib
    JOIN            = n.join ? "yes" : ""
    DISK_DEVICE     = try(var.data_disk.device, "")
    DISK_LABEL      = try(var.data_disk.label, "")
    DISK_FILESYSTEM = try(var.data_disk.filesystem, "")
    PACKAGE_URL     = try(var.package.url, "")
    PACKAGE_SHA256  = try(var.package.sha256, "")
    SECRET_SOURCE   = var.secrets.source
    SECRET_PROJECT  = coalesce(var.secrets.project, " ")
    SECRET_COMMAND  = coalesce(var.secrets.command, " ")
    SECRETS         = join(" ", [for f, name in local.secret_names[k] : "${f}=${name}"])
  } }

  # The package sets the rest. A port of ours must not become the source port of some connection.
  sysctl = "net.ipv4.ip_local_reserved_ports = ${join(",", sort([for p in values(var.ports) : format("%d", p)]))}\n"

  machine_files = { for k, n in var.nodes : k => [
    { path = "${local.dirs[k].etc}/node.yaml", permissions = "0600", content = yamlencode(local.files[k]) },
    { path = "${local.dirs[k].etc}/setup.env", permissions = "0600", content = join("", [for s, v in local.settings[k] : "${s}='${trimspace(v)}'\n"]) },
    { path = "/etc/sysctl.d/70-tandem-node.conf", permissions = "0644", content = local.sysctl },
    { path = "/usr/local/sbin/tandem-setup", permissions = "0755", content = file("${path.module}/files/setup.sh") },
  ] }

  cloud_init = { for k, n in var.nodes : k => join("", ["#cloud-config\n", yamlencode({
    hostname          = k
    preserve_hostname = false
    package_update    = true
    packages          = ["ca-certificates", "curl"]
    write_files       = [for f in local.machine_files[k] : merge(f, { owner = "root:root" })]
    runcmd            = [["/usr/local/sbin/tandem-setup", "${local.dirs[k].etc}/setup.env"]]
  })]) }

  startup_script = { for k, n in var.nodes : k => join("\n", concat(
    ["#!/usr/bin/env bash", "# Makes this machine the node ${k} of the cluster ${var.cluster.id}; it may run at every start.", "set -euo pipefail", "umask 077"],
    [for f in local.machine_files[k] : join("\n", [
      "install -d -m 0755 ${dirname(f.path)}",
      "base64 -d >${f.path} <<'END'",
      base64encode(f.content),
      "END",
      "chmod ${f.permissions} ${f.path}",
    ])],
    ["exec /usr/local/sbin/tandem-setup ${local.dirs[k].etc}/setup.env", ""],
  )) }
}
