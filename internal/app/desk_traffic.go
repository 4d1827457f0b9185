package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/tally"
)

// Traffic implements admin.Traffic.
func (d *desk) Traffic(_ context.Context, scope, window string) (admin.TrafficList, error) {
	w, ok := tally.ParseWindow(window)
	if !ok {
		return admin.TrafficList{}, fmt.Errorf("%w: window %q; use 5m, 1h or 24h", admin.ErrInvalid, window)
	}
	s, ok := tally.ParseScope(scope)
	if !ok && scope != "" {
		return admin.TrafficList{}, fmt.Errorf("%w: scope %q; use carrier, trunk_group, site or destination", admin.ErrInvalid, scope)
	}
	out := admin.TrafficList{Node: d.app.cfg.Name, Rows: []admin.TrafficRow{}, Carriers: []admin.TrafficCarrier{}}
	for _, r := range d.app.tallies.rows(w) {
		if s == 0 || r.Scope == s {
			out.Rows = append(out.Rows, trafficRow(&r, w))
		}
	}
	if s != 0 && s != tally.Carrier {
		return out, nil
	}
	for _, r := range d.app.quality.Carriers(time.Now()) {
		c := admin.TrafficCarrier{Plan: r.Plan, Carrier: r.Carrier, Attempts: r.Tally.Attempts, Answered: r.Tally.Answered}
		if !r.Bar.Until.IsZero() {
			c.Barred, c.Since, c.Until = r.Bar.Reason, r.Bar.Since.UTC().Format(time.RFC3339), r.Bar.Until.UTC().Format(time.RFC3339)
		}
		out.Carriers = append(out.Carriers, c)
	}
	slices.SortFunc(out.Carriers, func(a, b admin.TrafficCarrier) int {
		return cmp.Or(cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.Carrier, b.Carrier))
	})
	return out, nil
}

func trafficRow(r *tally.Row, w tally.Window) admin.TrafficRow {
	row := admin.TrafficRow{Scope: r.Scope.String(), Name: r.Name, Window: w.String(), Attempts: r.Attempts, Answered: r.Answered, Ended: r.Ended}
	row.ASR, row.NER = known(r.ASR()), known(r.NER())
	for _, p := range []*float64{row.ASR, row.NER} {
		if p != nil {
			*p *= 100
		}
	}
	row.ACD, row.PDD = known(r.ACD()), known(r.PDD())
	return row
}

// known is a value that may not be there.
func known(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}
