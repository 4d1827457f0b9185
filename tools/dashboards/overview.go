package main

// overview answers, at a glance: do calls work, where, and who complains?
func overview() *builder {
	return board("overview", "Overview", "Do calls work in both sites, and what needs somebody?", choice("site", `label_values(up{job="tandem"}, site)`)).
		WithPanel(number("Calls up", "Both directions, over all nodes, ringing ones too.", "short", 0,
			query{"sum(site:tandem_calls_active:sum" + where(`site=~"$site"`) + ")", "calls"})).
		WithPanel(number("Calls per second", "Calls that ended.", "reqps", 0,
			query{"sum(trunk_group:tandem_calls:rate5m" + where() + ")", "calls"})).
		WithPanel(number("Alerts", "What fires now.", "short", 1,
			query{`count(ALERTS{alertstate="firing", alertname=~"Tandem.*"}) or vector(0)`, "alerts"})).
		WithPanel(number("Nodes away", "Nodes that Prometheus does not reach.", "short", 1,
			query{"sum(site:tandem_nodes:count" + where(`site=~"$site"`) + ") - sum(site:tandem_nodes_up:sum" + where(`site=~"$site"`) + ")", "nodes"})).
		WithPanel(number("Groups without an active member", "Groups by site: their calls go to the peer site or fail.", "short", 1,
			query{"count(trunk_group_site:tandem_members_up:sum" + where(`site=~"$site"`) + " == 0 and trunk_group_site:tandem_members_wanted:max > 0) or vector(0)", "groups"})).
		WithPanel(number("Groups handed over", "Groups whose calls go to the peer site.", "short", 1,
			query{"sum(site:tandem_handover_active:max" + where(`site=~"$site"`) + ") or vector(0)", "groups"})).
		WithPanel(list("Alerts that fire", "Each has a runbook.", query{`ALERTS{alertstate="firing", alertname=~"Tandem.*"}`, ""}).Height(6)).
		WithPanel(graph("Calls up", "By site and direction.", "short",
			query{"site:tandem_calls_active:sum" + where(`site=~"$site"`), "{{site}} {{direction}}"})).
		WithPanel(graph("Calls that ended, by result", "answered, busy, no_answer, cancelled, rejected, failed, no_route.", "reqps",
			query{"sum by (result) (rate(tandem_calls_total" + where(`site=~"$site"`) + "[$__rate_interval]))", "{{result}}"})).
		WithPanel(graph("Answered and reached", "ASR: answered by all. SEER: answered or refused by the callee himself, by all that the caller did not give up.", "percentunit",
			query{"avg by (direction) (trunk_group:tandem_asr:ratio5m" + where() + ")", "ASR {{direction}}"},
			query{"avg by (direction) (trunk_group:tandem_seer:ratio5m" + where() + ")", "SEER {{direction}}"})).
		WithPanel(graph("Wait for the first ringing", "95 of 100 callers wait no longer.", "s",
			query{"histogram_quantile(0.95, sum by (direction, le) (rate(tandem_call_post_dial_delay_seconds_bucket" + where(`site=~"$site"`) + "[$__rate_interval])))", "{{direction}}"})).
		WithPanel(timeline("Nodes", "Whether Prometheus reaches them.", "up", "away",
			query{"up" + where(`job="tandem"`, `site=~"$site"`), "{{site}} {{node}}"})).
		WithPanel(graph("Refused before any attempt", "By reason.", "reqps",
			query{"sum by (reason) (rate(tandem_call_rejections_total" + where(`site=~"$site"`) + "[$__rate_interval]))", "{{reason}}"})).
		WithPanel(graph("Strangers", "Dropped at the doors, and digest answers that were refused.", "reqps",
			query{"sum by (cause) (rate(tandem_doors_dropped_messages_total" + where(`site=~"$site"`) + "[$__rate_interval]))", "door: {{cause}}"},
			query{"sum by (reason) (rate(tandem_auth_failures_total" + where(`site=~"$site"`) + "[$__rate_interval]))", "digest: {{reason}}"}))
}
