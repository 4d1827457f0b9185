package metrics

// Registrations is what is registered, as this node sees it.
type Registrations struct {
	AORs int
	// Bindings counts by reach (any, socket, flow) and by state: reachable, or
	// why not.
	Bindings map[[2]string]int
	Waiting  int    // REGISTERs that wait for the registrar
	Full     uint64 // bindings that found no room
	Unknown  uint64 // bindings of other nodes that were not understood
}

var (
	descRegisteredAORs = desc("registered_addresses", "Addresses of record with at least one binding.")
	descBindings       = desc("registrations", "Bindings of all nodes, by how they are reached and whether they can be from here.", "reach", "state")
	descRegisterQueue  = desc("register_queue", "REGISTERs that wait for the registrar.")
	descBindingsLost   = desc("registrations_lost_total", "Bindings that this node does not hold: no room in soft state, or of a form that it does not know.", "reason")
)

func (p page) registrations(r Registrations) {
	p.gauge(descRegisteredAORs, float64(r.AORs))
	for k, n := range r.Bindings {
		p.gauge(descBindings, float64(n), k[0], k[1])
	}
	p.gauge(descRegisterQueue, float64(r.Waiting))
	p.counter(descBindingsLost, r.Full, "full")
	p.counter(descBindingsLost, r.Unknown, "unreadable")
}

// Register counts a REGISTER by what became of it: registered, refreshed, removed, queried, challenged, busy, or why it was refused.
func (m *Metrics) Register(result string) { m.rare.registers.add(result) }
