package app

import (
	"context"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/metrics"
)

// limitPatience is how long a scrape waits for the limits.
const limitPatience = time.Second

// Limits implements admin.Limits.
func (d *desk) Limits(ctx context.Context) (admin.LimitList, error) {
	out := admin.LimitList{Node: d.app.cfg.Name, Site: d.app.cfg.Site, Limits: []admin.Limit{}}
	list, err := d.app.limits.status(ctx)
	if err != nil {
		return out, fmt.Errorf("%w: %w", admin.ErrUnavailable, err)
	}
	for _, s := range list {
		if s.Limit == 0 && s.Used == 0 {
			continue
		}
		out.Limits = append(out.Limits, admin.Limit{
			Scope: s.Key.Scope.String(), Name: s.Key.Name, Kind: s.Key.Kind.String(), Max: s.Limit,
			Cluster: s.SiteUsed + s.OtherUsed, Site: s.SiteUsed, Used: s.Used, Share: s.Share, Own: s.Own,
			Lent: s.Lent, Borrowed: s.Borrowed, Waiting: s.Waiting, Grantor: s.Grantor, Note: s.Note,
		})
	}
	return out, nil
}

// metrics lists the limits for a scrape; none when the answer takes too long.
func (l *limits) metrics() []metrics.Limit {
	ctx, cancel := context.WithTimeout(context.Background(), limitPatience)
	defer cancel()
	list, err := l.status(ctx)
	if err != nil {
		return nil
	}
	out := make([]metrics.Limit, 0, len(list))
	for _, s := range list {
		m := metrics.Limit{
			Scope: s.Key.Scope.String(), Name: s.Key.Name, Kind: s.Key.Kind.String(), Max: s.Limit, Share: s.Share, Used: s.Used,
			Waiting: s.Waiting, Lent: s.Lent, Borrowed: s.Borrowed, Complete: s.Note == "",
		}
		if meter := l.set.Meter(s.Key); meter != nil {
			m.Short = meter.Missed()
		}
		out = append(out, m)
	}
	return out
}
