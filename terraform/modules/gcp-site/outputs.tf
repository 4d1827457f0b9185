output "instances" {
  description = "By node, id, name, zone and self link of its machine."
  value       = { for k, n in module.node : k => n.instance }
}
