package app

import (
	"context"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/trunkgroup"
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

// bounds says which bound of its customer a call finds passed, and what comes of it.
func (d *desk) bounds(e *trunkgroup.Explanation, table *trunkgroup.Table, proven bool) {
	g := table.Group(e.Ingress)
	if g == nil || g.Fraud == nil || e.Direction != "outbound" || trunkgroup.EmergencyNumber([]byte(e.Called)) {
		return
	}
	v := d.app.frauds.watch.Ask(time.Now().Add(d.app.cfg.ClockOffset), g.Fraud, []byte(e.Called), proven)
	if v.Bound == "" {
		return
	}
	then := map[trunkgroup.FraudAction]string{
		trunkgroup.FraudAlarm:     "it goes on",
		trunkgroup.FraudBlock:     "603 to the caller",
		trunkgroup.FraudChallenge: "401 until it shows a digest user of the customer",
	}[v.Action]
	what := fmt.Sprintf("customer %s has passed the bound %s of rule %s", g.Fraud.Customer, v.Bound, v.Rule)
	if v.Bound == "closed" {
		what = fmt.Sprintf("rule %s of customer %s lets no call there", v.Rule, g.Fraud.Customer)
	}
	e.Steps = append(e.Steps, trunkgroup.Step{
		Name: "fraud", Text: fmt.Sprintf("%s (%s): %s; tandem fraud list shows the counts", what, v.Action, then),
	})
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
