package app

import (
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// failover counts a call that goes on to somebody else.
func (m *meter) failover(e *b2bua.Event, d metrics.Direction) {
	f := metrics.Failover{Scope: e.Result, Direction: d, FromSite: e.From, ToSite: e.To, Reason: e.Reason}
	if e.Group != nil {
		f.From = e.Group.Name
	}
	if e.Next != nil {
		f.To = e.Next.Name
	}
	m.all.Failover(f)
	if e.Result == b2bua.ScopeSite && e.From == m.handovers.site {
		m.handovers.went(time.Now(), f.From, e.To)
	}
}

// memberCalls tells how many calls of this node are with a member, and how many the cluster may have there.
func (a *App) memberCalls(m *trunkgroup.Member) (calls, capacity int) {
	return int(a.watch.meter.handles.Load().Member(m).Calls()) + a.sessions.Own(m), m.Limits.Calls
}

// siteMetrics tells which other sites this node hears. A site is as up as its nodes that take calls: it has been
// up for as long as the one that was heard longest, and away for as long as the last that went.
func siteMetrics(a *App) []metrics.Site {
	witness := map[string]bool{}
	for _, m := range a.node.Members() {
		witness[m.Name] = m.Meta.Witness
	}
	var sites siteList
	if t := a.node.Table(); t != nil {
		for _, name := range t.Sites() {
			sites.of(name)
		}
	}
	for _, p := range a.node.Peers() {
		if p.Site == "" || witness[p.Name] {
			continue
		}
		s := sites.of(p.Site)
		switch {
		case p.Up && (!s.Up || p.Since.Before(s.Since)), !p.Up && !s.Up && p.Since.After(s.Since):
			s.Since = p.Since
		}
		s.Up = s.Up || p.Up
		if p.Up && p.RTT > 0 && (s.RTT == 0 || p.RTT < s.RTT) {
			s.RTT = p.RTT
		}
	}
	return sites.without(a.cfg.Site)
}

// sitesUp tells of the other sites whether this node hears them now.
func sitesUp(a *App) func(site string) bool {
	list := siteMetrics(a)
	return func(site string) bool {
		return slices.ContainsFunc(list, func(s metrics.Site) bool { return s.Name == site && s.Up })
	}
}

// siteList are sites by name, few enough to be looked through.
type siteList []metrics.Site

func (l *siteList) of(name string) *metrics.Site {
	for i := range *l {
		if (*l)[i].Name == name {
			return &(*l)[i]
		}
	}
	*l = append(*l, metrics.Site{Name: name})
	return &(*l)[len(*l)-1]
}

func (l siteList) without(name string) []metrics.Site {
	var others []metrics.Site
	for i := range l {
		if l[i].Name != name {
			others = append(others, l[i])
		}
	}
	return others
}

// alarmNames are the alarms of this node.
func alarmNames(a *App) []string {
	var names []string
	for _, alarm := range a.node.Status().Alarms {
		names = append(names, alarm.Name)
	}
	return names
}
