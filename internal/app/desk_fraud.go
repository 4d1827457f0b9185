package app

import (
	"context"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/metrics"
)

// Frauds implements admin.Frauds.
func (d *desk) Frauds(context.Context) (admin.FraudList, error) {
	f := d.app.frauds
	out := admin.FraudList{Node: d.app.cfg.Name, Rules: []admin.FraudRule{}}
	t := f.current()
	if t == nil {
		return out, nil
	}
	for _, u := range f.watch.Usage(time.Now().Add(d.app.cfg.ClockOffset), t) {
		r := admin.FraudRule{
			Customer: u.Customer, Rule: u.Rule, Action: u.Bounds.Action.String(), Closed: u.Bounds.Closed, Percent: u.Percent,
			HourCalls: u.HourCalls, DayCalls: u.DayCalls, HourMinutes: u.HourMinutes, DayMinutes: u.DayMinutes, ShortCalls: u.ShortCalls,
			MaxHourCalls: u.Bounds.Calls.Hour, MaxDayCalls: u.Bounds.Calls.Day,
			MaxHourMinutes: u.Bounds.Minutes.Hour, MaxDayMinutes: u.Bounds.Minutes.Day, MaxShortCalls: u.MaxShort,
			Passed: []admin.FraudTrip{},
		}
		for _, trip := range u.Trips {
			r.Passed = append(r.Passed, admin.FraudTrip{
				Bound: trip.Bound, Action: trip.Action.String(), Since: trip.Since, Last: trip.Last, Calls: trip.Calls,
			})
		}
		out.Rules = append(out.Rules, r)
	}
	return out, nil
}

// metrics lists the rules for a scrape.
func (f *frauds) metrics() []metrics.Fraud {
	t := f.current()
	if t == nil {
		return nil
	}
	var out []metrics.Fraud
	for _, u := range f.watch.Usage(time.Now().Add(f.app.cfg.ClockOffset), t) {
		m := metrics.Fraud{
			Customer: u.Customer, Rule: u.Rule, HourCalls: u.HourCalls, DayCalls: u.DayCalls, HourMinutes: u.HourMinutes, DayMinutes: u.DayMinutes,
		}
		for _, trip := range u.Trips {
			m.Passed = append(m.Passed, metrics.FraudPassed{Bound: trip.Bound, Action: trip.Action.String(), Calls: trip.Calls})
		}
		out = append(out, m)
	}
	return out
}
