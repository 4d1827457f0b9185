package app

import (
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// drains says, before all that is decided, that the site where the call enters or the
// node itself is drained: that is why members are out, or why the call is on its way to
// another node.
func (x *exploring) drains() {
	var steps []trunkgroup.Step
	if why, _ := x.d.drainedSite(x.query.Site); why != "" {
		steps = append(steps, trunkgroup.Step{Name: "drain", Text: why})
	}
	if c := x.d.app.drainer.check(); c.Level != admin.Fine && x.query.Site == x.d.app.cfg.Site {
		steps = append(steps, trunkgroup.Step{Name: "drain", Text: fmt.Sprintf("node %s drains: %s", x.d.app.cfg.Name, c.Detail)})
	}
	x.Steps = slices.Insert(x.Steps, 0, steps...)
	for i := range x.Sites {
		if why, _ := x.d.drainedSite(x.Sites[i].Site); why != "" {
			x.say("hand-off", "%s", why)
		}
	}
}

// drainedSite says that an operator drained a site, or nothing, and whether it takes
// calls nevertheless since no other site does.
func (d *desk) drainedSite(site string) (why string, needed bool) {
	m := d.app.watch.monitor
	if m == nil {
		return "", false
	}
	if b := m.Board(); b != nil {
		_, needed = b.Needed[site]
	}
	for _, k := range m.Knobs() {
		if k.Member == verdict.DrainOf(site) {
			why = fmt.Sprintf("%s is drained since %s by %s until %s: %s", site, k.Set.UTC().Format(time.RFC3339),
				orUnknown(k.Author), k.Expires.UTC().Format(time.RFC3339), orUnknown(k.Reason))
			if needed {
				why += "; it takes calls nevertheless, since no other site does"
			}
			return why, needed
		}
	}
	return "", false
}
