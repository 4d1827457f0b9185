package app

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// alarmEmergencyRate: a trunk group makes more emergency calls than its
// limits.emergency_cps. None is refused (DEC-17): somebody has to look.
const alarmEmergencyRate = "emergency_rate"

// emergencyQuiet is how long a group stays in the alarm after its last call
// above the rate.
const emergencyQuiet = time.Minute

// emergencies is a token bucket per trunk group that alarms and blocks nothing.
type emergencies struct {
	count   func(group string, above bool)
	buckets sync.Map // name of a group -> *emergencyBucket
}

// emergencyBucket is the generic cell rate algorithm in one word, with room for
// the calls of one second.
type emergencyBucket struct {
	next  atomic.Int64 // theoretical arrival of the next call, in Unix nanoseconds
	above atomic.Int64 // when the last call above the rate came, in Unix nanoseconds; 0 = never
}

// taken counts an emergency call of a group. It runs on the call path of
// emergency calls alone.
func (e *emergencies) taken(now time.Time, g *trunkgroup.Group) {
	if g == nil {
		return
	}
	found, ok := e.buckets.Load(g.Name)
	if !ok {
		found, _ = e.buckets.LoadOrStore(g.Name, new(emergencyBucket))
	}
	b := found.(*emergencyBucket)
	above := !b.take(now.UnixNano(), max(1, g.Limits.EmergencyCPS))
	if above {
		b.above.Store(now.UnixNano())
	}
	e.count(g.Name, above)
}

// take reports whether a call is within the rate, in calls per second.
func (b *emergencyBucket) take(now int64, rate int) bool {
	const burst = int64(time.Second)
	each := burst / int64(rate)
	for {
		next := b.next.Load()
		at := max(next, now)
		if at+each > now+burst {
			return false
		}
		if b.next.CompareAndSwap(next, at+each) {
			return true
		}
	}
}

// excess says which groups were above their rate within the last minute; empty =
// none.
func (e *emergencies) excess(now time.Time) string {
	var names []string
	e.buckets.Range(func(name, b any) bool {
		if at := b.(*emergencyBucket).above.Load(); at != 0 && now.Sub(time.Unix(0, at)) < emergencyQuiet {
			names = append(names, name.(string))
		}
		return true
	})
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("more emergency calls than limits.emergency_cps from %s; none was refused: look at the call records and call the customer",
		strings.Join(names, ", "))
}

// watchEmergencies raises and clears the alarm.
func (a *App) watchEmergencies(now time.Time) {
	a.alarmIf(alarmEmergencyRate, a.watch.meter.emergencies.excess(now))
}
