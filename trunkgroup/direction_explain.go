package trunkgroup

// onlyCall says in the steps which members of a group stand in no try-order, since
// they are never called.
func (e *explainer) onlyCall(g *Group) {
	for _, m := range g.Members {
		if m.Direction == DirectionIn && m.Site == e.q.Site {
			e.say("plan", "%s only calls (direction in) and is never called", m.Key)
		}
	}
}
