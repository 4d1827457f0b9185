package metrics

// Doors is what was kept out before it was read.
type Doors struct {
	Messages, Connections map[string]uint64 // dropped, by cause
	Bans                  int               // in force
	Made                  map[string]uint64 // automatic bans of this node, by reason
	OffencesLost          uint64            // offences that the judge had no time for
	Untold                uint64            // bans that the other nodes do not know
	OffloadFailures       uint64            // bans that the kernel did not take
}

var (
	descDoorMessages    = desc("doors_dropped_messages_total", "Messages that were dropped unread, by cause.", "cause")
	descDoorConnections = desc("doors_refused_connections_total", "Connections that were reset before they were served, by cause.", "cause")
	descBans            = desc("bans", "Addresses and networks from which nothing is taken.")
	descBansMade        = desc("bans_made_total", "Sources that this node banned for what they did, by reason.", "reason")
	descOffencesLost    = desc("offences_lost_total", "Offences of strangers that found no room on their way to the judge.")
	descBansUntold      = desc("bans_untold_total", "Bans that hold on this node only, because soft state had no room.")
	descOffload         = desc("ban_offload_failures_total", "Changes of bans that the kernel's packet filter did not take.")
)

func (p page) doors(d Doors) {
	for cause, n := range d.Messages {
		p.counter(descDoorMessages, n, cause)
	}
	for cause, n := range d.Connections {
		p.counter(descDoorConnections, n, cause)
	}
	p.gauge(descBans, float64(d.Bans))
	for reason, n := range d.Made {
		p.counter(descBansMade, n, reason)
	}
	p.counter(descOffencesLost, d.OffencesLost)
	p.counter(descBansUntold, d.Untold)
	p.counter(descOffload, d.OffloadFailures)
}
