package metrics

import (
	"slices"
	"testing"
)

func TestConnections(t *testing.T) {
	page := pageOf(t, New(Info{}, Sources{Connections: func() Connections {
		return Connections{Open: map[string]int64{"wss": 7}, Failed: map[string]uint64{"upgrade": 3}}
	}}))
	for _, line := range []string{`tandem_sip_connections{transport="wss"} 7`, `tandem_sip_connection_failures_total{reason="upgrade"} 3`} {
		if !slices.Contains(page, line) {
			t.Errorf("no line %s", line)
		}
	}
}
