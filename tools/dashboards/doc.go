// Command dashboards writes the Grafana dashboards of configs/grafana. They are code, so that a panel is written once, a
// query is tested like one, and nobody edits JSON by hand.
//
//	go run -C tools/dashboards . -o ../../configs/grafana
//
// overview.go, failover.go, groups.go and nodes.go are the dashboards, panels.go is what they are made of. Package queries
// judges what they and the rules ask for.
package main
