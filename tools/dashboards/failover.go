package main

// failover tells who was left, where calls went, why, and after how long.
func failover() *builder {
	from := where(`from_site=~"$site"`)
	here := where(`site=~"$site"`)
	return board("site-failover", "Site failover", "Who was left, where calls went, why, and after how long.", choice("site", "label_values(tandem_site_up, site)")).
		WithPanel(number("Groups handed over", "Their calls go to the peer site.", "short", 1,
			query{"sum(site:tandem_handover_active:max" + here + ") or vector(0)", "groups"})).
		WithPanel(number("Sites that do not hear each other", "Pairs of sites, by direction.", "short", 1,
			query{"count(site:tandem_site_up:max" + here + " == 0) or vector(0)", "pairs"})).
		WithPanel(number("Calls to the peer site", "Per second.", "reqps", 0,
			query{`sum(scope:tandem_failovers:rate5m{cluster=~"$cluster", from_site=~"$site", scope="site"}) or vector(0)`, "calls"})).
		WithPanel(number("Calls to another member or group", "Per second, inside a site.", "reqps", 0,
			query{`sum(scope:tandem_failovers:rate5m{cluster=~"$cluster", from_site=~"$site", scope!="site"}) or vector(0)`, "calls"})).
		WithPanel(number("Delay, 95 of 100 calls", "What was waited before the attempt that got through, over all scopes.", "s", 5,
			query{"max(scope:tandem_failover_delay_seconds:p95_5m" + where() + " >= 0) or vector(0)", "delay"})).
		WithPanel(number("Nodes without quorum", "They cannot change the configuration; calls go on.", "short", 1,
			query{"count(tandem_raft_has_quorum" + here + " == 0) or vector(0)", "nodes"})).
		WithPanel(timeline("Hand-over", "By group: from when to when its calls went to the peer site.", "hand-over", "at home",
			query{"site:tandem_handover_active:max" + here, "{{trunk_group}}: {{site}} to {{peer_site}}"})).
		WithPanel(timeline("Sites as they see each other", "A cut link shows on both ends, a lost site on one.", "up", "away",
			query{"site:tandem_site_up:max" + here, "{{site}} sees {{peer_site}}"})).
		WithPanel(list("Now", "Who is handed over, to where, for how long.",
			query{"time() - min by (cluster, site, peer_site, trunk_group) (tandem_site_handover_since_timestamp_seconds" + here + ")", ""}).Unit("s")).
		WithPanel(graph("Who was left", "Failovers by group and how far the call had to go.", "reqps",
			query{"sum by (scope, trunk_group) (rate(tandem_failovers_total" + from + "[$__rate_interval]))", "{{trunk_group}} ({{scope}})"})).
		WithPanel(graph("Why", "no_active_member, drain, no_response, transport_error, reroute_cause, capacity, affinity.", "reqps",
			query{"sum by (reason) (rate(tandem_failovers_total" + from + "[$__rate_interval]))", "{{reason}}"})).
		WithPanel(graph("Where to", "From site to site; inside a site from group to group.", "reqps",
			query{`sum by (from_site, to_site) (rate(tandem_failovers_total{cluster=~"$cluster", from_site=~"$site", scope="site"}[$__rate_interval]))`, "{{from_site}} to {{to_site}}"},
			query{`sum by (trunk_group, to_trunk_group) (rate(tandem_failovers_total{cluster=~"$cluster", from_site=~"$site", scope="group"}[$__rate_interval]))`, "{{trunk_group}} to {{to_trunk_group}}"})).
		WithPanel(graph("How long callers waited", "Before the attempt that rang or was answered: half of the calls, and 95 of 100.", "s",
			query{"histogram_quantile(0.5, sum by (scope, le) (rate(tandem_failover_delay_seconds_bucket" + where() + "[$__rate_interval])))", "{{scope}} p50"},
			query{"histogram_quantile(0.95, sum by (scope, le) (rate(tandem_failover_delay_seconds_bucket" + where() + "[$__rate_interval])))", "{{scope}} p95"})).
		WithPanel(graph("What became of hand-offs", "answered, refused, or nobody there who could.", "reqps",
			query{"sum by (from_site, to_site, result) (rate(tandem_handoffs_total" + from + "[$__rate_interval]))", "{{from_site}} to {{to_site}}: {{result}}"})).
		WithPanel(graph("Round trip between the sites", "To the nearest node of the other site.", "s",
			query{"min by (site, peer_site) (tandem_site_rtt_seconds" + here + ")", "{{site}} to {{peer_site}}"})).
		WithPanel(graph("Time handed over", "Seconds of each hour, by group.", "s",
			query{"max by (site, peer_site, trunk_group) (increase(tandem_site_handover_seconds_total" + here + "[1h]))", "{{trunk_group}}: {{site}} to {{peer_site}}"})).
		WithPanel(graph("Revision of the document", "Nodes that differ for long drift.", "none",
			query{"tandem_config_revision" + here, "{{node}}"}))
}
