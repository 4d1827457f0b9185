// Package metrics counts what the node does and shows it to Prometheus.
//
// Everything lives in a registry of its own under the prefix tandem_. Names follow Prometheus' conventions: base units, _total on counters;
// `promtool check metrics` has nothing to say about the page, which is a test.
//
// Calls do no label lookups. For each routing table [Metrics.ForTable] makes the counters of all groups and members once; a call then reaches
// its counters by index ([Handles]), and SIP messages are counted in arrays that each shard has for itself ([SIP]). Counters are kept by name, so
// they go on through any number of tables.
//
// Labels never hold numbers, Call-IDs or URIs, and the number of member series is bounded.
//
// State that others keep (members, cluster, call records) is read when the page is asked for, through the functions in [Sources].
package metrics
