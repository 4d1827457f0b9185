package prober

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// tick is how often the loop looks at the clock when nothing is due, to see it jump.
const tick = time.Second

// leastJump is how late the loop must be at least to count as a jump: a busy machine is not a paused one.
const leastJump = 5 * time.Second

// checkClock looks for a jump. DEC-13: "A node whose monotonic clock jumped more than one interval discards its verdicts and probes before
// publishing": it was paused, and what it believes is old.
func (l *loop) checkClock() {
	now := l.p.cfg.Now()
	late := now.Sub(l.last) - tick
	l.last = now
	if late <= leastJump {
		return
	}
	discarded := 0
	for _, t := range l.targets {
		if late > t.Member.Group.Monitoring.Interval && t.health.Admin() != trunkgroup.AdminDisabled {
			l.discard(now, t)
			discarded++
		}
	}
	if discarded > 0 {
		l.p.cfg.Logger.Warn("the clock jumped: verdicts discarded", "by", late.String(), "targets", discarded)
	}
}

// discard makes a target unknown, whatever was told before.
func (l *loop) discard(now time.Time, t *target) {
	t.health = trunkgroup.NewHealth(t.Member.Group.Monitoring, now)
	t.notBefore = l.first(now, t.Member)
	t.life++
	if t.cancel != nil {
		t.cancel()
	}
	t.out, t.silent, t.told = time.Time{}, time.Time{}, trunkgroup.Unknown
	l.schedule.place(t)
	l.p.cfg.OnUpdate(Update{Target: t.Target, Health: t.health, Changed: true, Discarded: true, At: now})
}
