package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDoors(t *testing.T) {
	m := New(Info{}, Sources{Doors: func() Doors {
		return Doors{Messages: map[string]uint64{"scanner": 7}, Connections: map[string]uint64{"ban": 2}, Bans: 3, Made: map[string]uint64{"digest": 1}}
	}})
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range []string{
		`tandem_doors_dropped_messages_total{cause="scanner"} 7`, `tandem_doors_refused_connections_total{cause="ban"} 2`,
		`tandem_bans 3`, `tandem_bans_made_total{reason="digest"} 1`, `tandem_ban_offload_failures_total 0`,
	} {
		if !strings.Contains(rec.Body.String(), line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}
