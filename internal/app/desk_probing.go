package app

import (
	"context"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/monitor/verdict"
)

// alarmProbingPaused: an operator has stopped the probes of this node's site. Nobody
// notices a far end that dies meanwhile, but by its calls.
const alarmProbingPaused = "probing_paused"

// watchPause raises and clears the alarm.
func (a *App) watchPause(b *verdict.Board) {
	if knob, paused := b.Paused[a.cfg.Site]; paused {
		a.node.RaiseAlarm(alarmProbingPaused, pauseText(a.cfg.Site, &knob))
	} else {
		a.node.ClearAlarm(alarmProbingPaused)
	}
}

func pauseText(site string, k *verdict.Knob) string {
	return fmt.Sprintf("the probes of %s are paused by %s until %s: %s; tandem probing resume ends it", site, orUnknown(k.Author),
		k.Expires.UTC().Format(time.RFC3339), orUnknown(k.Reason))
}

// SetProbing implements admin.Knobs.
func (d *desk) SetProbing(ctx context.Context, site string, o admin.ProbingOrder) (admin.KnobLine, error) {
	if err := d.knownSite(site); err != nil {
		return admin.KnobLine{}, err
	}
	return d.one(ctx, order{Verb: "probing", Site: site, On: o.Pause, Author: o.Author, Reason: o.Reason})
}

// pauses are the sites whose probes are stopped.
func pauses(b *verdict.Board) []admin.Pause {
	list := []admin.Pause{}
	for _, site := range b.Table.Sites() {
		if k, paused := b.Paused[site]; paused {
			list = append(list, admin.Pause{Site: site, Author: k.Author, Reason: k.Reason, Since: k.Set, Until: k.Expires})
		}
	}
	return list
}
