package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/metrics"
)

// Keys implements admin.Keys.
func (d *desk) Keys(context.Context) (admin.KeyList, error) {
	a := d.app
	states := a.node.KeyStates()
	list := admin.KeyList{
		Nodes: []admin.NodeKeys{}, Differ: cluster.KeysDiffer(states), Certificates: []admin.Certificate{}, Refused: []admin.Refusal{},
	}
	for _, s := range states {
		list.Nodes = append(list.Nodes, nodeKeys(s))
	}
	now := time.Now()
	for use, end := range a.keys.certificates() {
		list.Certificates = append(list.Certificates, admin.Certificate{Use: use, Until: end, DaysLeft: daysLeft(end, now)})
	}
	slices.SortFunc(list.Certificates, func(x, y admin.Certificate) int { return x.Until.Compare(y.Until) })
	refused := a.node.RefusedBy()
	for _, reason := range slices.Sorted(maps.Keys(refused)) {
		list.Refused = append(list.Refused, admin.Refusal{Reason: reason, Count: refused[reason]})
	}
	return list, nil
}

func nodeKeys(s cluster.KeyState) admin.NodeKeys {
	n := admin.NodeKeys{
		Name: s.Node, Self: s.Self, Up: s.Up, Keys: []string{}, TLS: s.TLS, Plain: s.Plain,
		Certificate: s.Certificate, Authorities: s.Authorities, Refused: s.Refused,
		Told: moment(s.At), Until: moment(s.Expires), RefusedSince: moment(s.RefusedAt),
	}
	for _, k := range s.Keys {
		n.Keys = append(n.Keys, k.String())
	}
	return n
}

// moment is a time that may be unknown.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func daysLeft(end, now time.Time) float64 { return end.Sub(now).Hours() / 24 }

// certificates are the ends of all certificates that this node shows, by their use.
func (k *keeper) certificates() map[string]time.Time {
	ends := map[string]time.Time{}
	if id := k.current().identity; id != nil {
		ends["cluster"] = id.Expires()
	}
	for _, c := range k.certs {
		if end := c.expires(); !end.IsZero() {
			ends[c.use] = end
		}
	}
	return ends
}

// keyMetrics is what the metrics page shows of keys and certificates.
func keyMetrics(a *App) metrics.Keys {
	m := metrics.Keys{Ends: a.keys.certificates(), Held: len(a.keys.current().secrets), Refused: a.node.RefusedBy()}
	for _, p := range a.node.Peers() {
		switch {
		case p.Up && p.TLS:
			m.TLS++
		case p.Up:
			m.Plain++
		}
	}
	return m
}
