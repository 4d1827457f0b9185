package app

import (
	"time"

	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/sbc/guard"
)

// metrics is what a scrape shows of the doors.
func (d *doors) metrics() metrics.Doors {
	m := metrics.Doors{
		Messages: map[string]uint64{}, Connections: map[string]uint64{}, Made: map[string]uint64{},
		Bans:         len(d.guard.Bans(time.Now())),
		OffencesLost: d.lost.Load(), Untold: d.untold.Load(), OffloadFailures: d.offload.failures(),
	}
	d.guard.Counters().Each(func(c guard.Cause, messages, connections uint64) {
		m.Messages[c.String()], m.Connections[c.String()] = messages, connections
	})
	for reason, n := range d.made {
		m.Made[reason] = n.Load()
	}
	return m
}
