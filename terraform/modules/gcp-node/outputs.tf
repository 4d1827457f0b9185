output "instance" {
  description = "Id, name, zone and self link of the machine."
  value = {
    id        = google_compute_instance.node.instance_id
    name      = google_compute_instance.node.name
    zone      = google_compute_instance.node.zone
    self_link = google_compute_instance.node.self_link
  }
}
