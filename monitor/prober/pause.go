package prober

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Pause stops all probes, or lets them go on (K-27 ping_active). Meanwhile no verdict changes but by an operator's word and by pauses that far
// ends asked for, and what is known is told again and again, so that nobody takes it for old news.
func (p *Prober) Pause(on bool) {
	p.order(func(l *loop, now time.Time) { l.pause(now, on) })
}

func (l *loop) pause(now time.Time, on bool) {
	if l.paused == on {
		return
	}
	l.paused = on
	l.queue = nil
	for _, t := range l.targets {
		t.paused, t.ready = on, false
		if t.cancel != nil {
			t.cancel()
			t.life++ // what is under way does not count any more
		}
		if !on {
			t.notBefore = l.first(now, t.Member)
		}
		l.schedule.place(t)
	}
}

// retell tells twice an interval what is known of each target. Of what is not known nothing is told: others may know more.
func (l *loop) retell(now time.Time) {
	for _, t := range l.targets {
		if _, probed := t.health.LastProbe(); probed.IsZero() && t.health.State() == trunkgroup.Unknown {
			continue
		}
		if now.Sub(t.toldAt) >= t.Member.Group.Monitoring.Interval/2 {
			l.tell(now, t, false)
		}
	}
}
