package main

// groups shows one trunk group: how its calls do, and its members.
func groups() *builder {
	g := where(`trunk_group=~"$trunk_group"`)
	return board("trunk-group", "Trunk group", "How the calls of a group do, and its members in each site.", choice("trunk_group", "label_values(tandem_trunk_group_members, trunk_group)")).
		WithPanel(graph("Calls up", "By direction.", "short",
			query{"sum by (trunk_group, direction) (tandem_calls_active" + g + ")", "{{trunk_group}} {{direction}}"})).
		WithPanel(graph("Calls that ended, by result", "", "reqps",
			query{"sum by (trunk_group, result) (rate(tandem_calls_total" + g + "[$__rate_interval]))", "{{trunk_group}} {{result}}"})).
		WithPanel(graph("ASR and NER", "Answered by all; attempts that reached the callee by all.", "percentunit",
			query{"trunk_group:tandem_asr:ratio5m" + g, "ASR {{trunk_group}} {{direction}}"},
			query{"trunk_group:tandem_ner:ratio5m" + g, "NER {{trunk_group}}"})).
		WithPanel(graph("Length of answered calls", "Mean (ACD).", "s",
			query{"trunk_group:tandem_acd_seconds:mean5m" + g, "{{trunk_group}} {{direction}}"})).
		WithPanel(graph("Wait for the first ringing", "95 of 100 callers wait no longer.", "s",
			query{"trunk_group:tandem_pdd_seconds:p95_5m" + g, "{{trunk_group}} {{direction}}"})).
		WithPanel(graph("Attempts by what came of them", "not_dialed are ours: no INVITE was sent.", "reqps",
			query{"sum by (member, site, class) (rate(tandem_route_attempts_total" + g + "[$__rate_interval]))", "{{site}}/{{member}} {{class}}"})).
		WithPanel(timeline("Members", "A member is up while one node gives it calls.", "up", "down",
			query{"member:tandem_up:max" + g, "{{trunk_group}}/{{member}} in {{site}}"})).
		WithPanel(graph("Calls by member", "Over all nodes.", "short",
			query{"sum by (trunk_group, site, member) (tandem_trunk_member_calls" + g + ")", "{{trunk_group}}/{{member}} in {{site}}"})).
		WithPanel(graph("How long members take to answer probes", "", "s",
			query{"max by (trunk_group, site, member) (tandem_trunk_member_latency_seconds" + g + ")", "{{trunk_group}}/{{member}} in {{site}}"})).
		WithPanel(graph("Flaps", "How often a member stopped getting calls within the hour.", "short",
			query{"max by (trunk_group, site, member) (tandem_trunk_member_flaps" + g + ")", "{{trunk_group}}/{{member}} in {{site}}"})).
		WithPanel(graph("Finals of the far ends", "", "reqps",
			query{"sum by (trunk_group, code) (rate(tandem_route_attempt_responses_total" + g + "[$__rate_interval]))", "{{trunk_group}} {{code}}"}))
}
