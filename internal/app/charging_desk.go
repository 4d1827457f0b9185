package app

import (
	"context"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/metrics"
)

// metrics is what a scrape shows of charging.
func (c *charger) metrics() metrics.Charging {
	s := c.clerk.Status()
	m := metrics.Charging{
		Online: s.Online, Offline: s.Offline, Requests: make(map[metrics.ChargingRequest]uint64, len(s.Requests)), Seconds: s.Seconds,
		Refused: s.Refused, Ended: s.Torn, Uncontrolled: s.Uncontrolled, Kept: s.Kept, Dropped: s.Dropped, Rejected: s.Rejected,
		Failing: s.Disk != nil,
	}
	for k, n := range s.Requests {
		m.Requests[metrics.ChargingRequest(k)] = n
	}
	for _, p := range c.peers.Status() {
		m.Peers = append(m.Peers, metrics.DiameterPeer{Name: p.Name, Up: p.Up, Sent: p.Sent, Answers: p.Answers, Lost: p.Lost, Pending: p.Pending})
	}
	return m
}

// Charging implements admin.Charging.
func (d *desk) Charging(context.Context) (admin.ChargingStatus, error) {
	c := d.app.charging
	s := c.clerk.Status()
	out := admin.ChargingStatus{
		Node: d.app.cfg.Name, Online: s.Online, Offline: s.Offline, Kept: s.Kept, Dropped: s.Dropped, Rejected: s.Rejected, Damaged: s.Damaged,
		Uncontrolled: s.Uncontrolled, Refused: total(s.Refused), Ended: total(s.Torn), Peers: []admin.DiameterPeer{},
	}
	if s.Disk != nil {
		out.Disk = s.Disk.Error()
	}
	for _, p := range c.peers.Status() {
		out.Peers = append(out.Peers, admin.DiameterPeer{
			Name: p.Name, Address: p.Address, Host: p.Host, State: p.State, Since: p.Since, Fault: p.Fault,
			Sent: p.Sent, Answers: p.Answers, Lost: p.Lost, Pending: p.Pending,
		})
	}
	return out, nil
}

func total(m map[string]uint64) uint64 {
	var n uint64
	for _, v := range m {
		n += v
	}
	return n
}
