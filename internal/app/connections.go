package app

import (
	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// connections reads the counters of the sockets for the metrics.
func connections(c *transport.Counters) metrics.Connections {
	out := metrics.Connections{
		Open: map[string]int64{},
		Failed: map[string]uint64{
			"cap": c.Capped.Load(), "expired": c.Expired.Load(), "upgrade": c.NotUpgraded.Load(),
			"dial": c.DialFailed.Load(), "accept": c.AcceptErrors.Load(),
		},
	}
	for _, t := range []trunkgroup.Transport{trunkgroup.TCP, trunkgroup.TLS, trunkgroup.WS, trunkgroup.WSS} {
		out.Open[t.String()] = c.OpenBy[t].Load()
	}
	return out
}
