package metrics

import "time"

// Site is what this node sees of another site.
type Site struct {
	Name  string
	Up    bool          // it hears a node there that takes calls
	Since time.Time     // since when that is so; zero when nobody knows
	RTT   time.Duration // to the nearest such node; 0 for none
}

// Handover is whether calls of a group go from this site to another one.
type Handover struct {
	Group, Peer string
	Active      bool
	Since       time.Time     // while Active
	Total       time.Duration // how long it was active since the node started
}

var (
	descSiteUp    = desc("site_up", "1 while this node hears a node of the other site that takes calls.", "peer_site")
	descSiteSince = desc("site_since_timestamp_seconds", "Since when the other site is up, or not, as Unix time.", "peer_site")
	descSiteRTT   = desc("site_rtt_seconds", "Smoothed round trip to the nearest node of the other site.", "peer_site")

	descHandover      = desc("site_handover_active", "1 while calls of the group go to the other site.", "trunk_group", "peer_site")
	descHandoverSince = desc("site_handover_since_timestamp_seconds", "Since when they go there, as Unix time.", "trunk_group", "peer_site")
	descHandoverTotal = desc("site_handover_seconds_total", "How long calls of the group went to the other site.", "trunk_group", "peer_site")
)

func (p page) sites(list []Site) {
	for i := range list {
		s := &list[i]
		p.flag(descSiteUp, s.Up, s.Name)
		p.instant(descSiteSince, s.Since, s.Name)
		if s.Up && s.RTT > 0 {
			p.gauge(descSiteRTT, s.RTT.Seconds(), s.Name)
		}
	}
}

func (p page) handovers(list []Handover) {
	for i := range list {
		h := &list[i]
		p.flag(descHandover, h.Active, h.Group, h.Peer)
		if h.Active {
			p.instant(descHandoverSince, h.Since, h.Group, h.Peer)
		}
		p.seconds(descHandoverTotal, h.Total, h.Group, h.Peer)
	}
}
