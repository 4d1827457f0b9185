package main

// nodes shows single nodes: whether they are well, and whether they agree.
func nodes() *builder {
	n := where(`node=~"$node"`)
	return board("node", "Node", "Whether nodes are well, and whether they agree.", choice("node", `label_values(up{job="tandem"}, node)`)).
		WithPanel(timeline("Takes calls", "Ready, as the node says itself.", "ready", "not ready", query{"tandem_ready" + n, "{{node}}"})).
		WithPanel(list("Alarms", "What nodes say of themselves; `tandem node list` says more.", query{"tandem_alarm_active" + n + " == 1", ""})).
		WithPanel(graph("Calls up", "", "short", query{"sum by (node) (tandem_calls_active" + n + ")", "{{node}}"})).
		WithPanel(graph("SIP requests that came", "Repeated ones included.", "reqps",
			query{`sum by (node, method) (rate(tandem_sip_requests_total{cluster=~"$cluster", node=~"$node", direction="in"}[$__rate_interval]))`, "{{node}} {{method}}"})).
		WithPanel(graph("Retransmissions", "Requests that were received again: packets are lost, or somebody is slow.", "reqps",
			query{"sum by (node) (rate(tandem_sip_retransmissions_total" + n + "[$__rate_interval]))", "{{node}}"})).
		WithPanel(graph("Messages dropped", "Without an answer.", "reqps",
			query{"sum by (node, reason) (rate(tandem_sip_dropped_total" + n + "[$__rate_interval]))", "{{node}} {{reason}}"})).
		WithPanel(graph("Processor", "Cores in use.", "short", query{"rate(process_cpu_seconds_total" + n + "[$__rate_interval])", "{{node}}"})).
		WithPanel(graph("Memory", "Resident.", "bytes", query{"process_resident_memory_bytes" + n, "{{node}}"})).
		WithPanel(graph("Round trip to other nodes", "", "s", query{"tandem_interconnect_rtt_seconds" + n, "{{node}} to {{peer}}"})).
		WithPanel(graph("Clock offset", "How far each peer's clock is ahead.", "s", query{"abs(tandem_clock_offset_seconds" + n + ")", "{{node}} sees {{peer}}"})).
		WithPanel(timeline("Quorum", "Without it the configuration cannot be changed; calls go on.", "quorum", "none", query{"tandem_raft_has_quorum" + n, "{{node}}"})).
		WithPanel(graph("Revision and edition", "Of the document, of numbers and of rate decks.", "none",
			query{"tandem_config_revision" + n, "{{node}} document"}, query{"tandem_numbers_edition" + n, "{{node}} numbers"}, query{"tandem_decks_edition" + n, "{{node}} decks"})).
		WithPanel(graph("Call records that wait", "", "short", query{"tandem_cdr_backlog_records" + n, "{{node}} {{sink}}"})).
		WithPanel(graph("Certificates end in", "", "s", query{"tandem_certificate_expiry_timestamp_seconds" + n + " - time()", "{{node}} {{use}}"}))
}
