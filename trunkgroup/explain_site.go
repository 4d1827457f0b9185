package trunkgroup

// elsewhere plans the call at the other sites, as it would be handed to them.
func (e *explainer) elsewhere(x *Explored) {
	d := e.t.RouteHandedOver(x.Decision.Customer.Name, x.Decision.Direction, x.Decision.Called, e.q.Called, e.q.NumberPolicy)
	for _, site := range e.t.Sites() {
		if site == e.q.Site {
			continue
		}
		there := explainer{t: e.t, v: e.v, q: e.q, d: &d, quiet: true}
		there.q.Site = site
		there.q.Asks = func(string) bool { return false }
		course := x.Course
		course.Site, course.Groups = site, d.Groups
		there.byRoutes, there.draws = e.byRoutes, map[*Group]*Draw{}
		order, _ := course.Plan(nil, &there)
		there.routes(&Explored{Course: course, Order: order})
		e.out.Sites = append(e.out.Sites, SitePlan{Site: site, Dialable: there.places, Order: there.out.Order})
	}
	for _, peer := range e.t.PeerSites(e.q.Site) {
		e.handoff(x, peer)
	}
}

// handoff says whether a peer site may be asked, and what it has.
func (e *explainer) handoff(x *Explored, peer string) {
	for i := range e.out.Sites {
		plan := &e.out.Sites[i]
		if plan.Site != peer || !x.Course.serves(peer) {
			continue
		}
		plan.Handoff = true
		if x.Course.Routes != nil {
			e.say("hand-off", "%s may be asked next, with the routes that remain: it asks nobody again", peer)
		}
		for _, g := range x.Course.Groups {
			if members := g.At(peer); len(members) > 0 {
				e.say("hand-off", "%s may be asked next, its members of %s: %s", peer, g.Name, e.census(members))
			}
		}
	}
}
