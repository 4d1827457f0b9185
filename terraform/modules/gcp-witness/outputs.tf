output "instance" {
  description = "Id, name, zone and self link of the machine."
  value       = module.node.instance
}
