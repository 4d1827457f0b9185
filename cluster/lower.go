package cluster

import (
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// lower watches something that has editions beside the document: whether the cluster's, once the
// replay is over, is still older than what this node runs. Only the goroutine that watches
// uses it.
type lower struct{ since time.Time } // that it is; zero = it is not

// reset is for when nothing can be said: the replay goes on, or there is no quorum.
func (l *lower) reset() { l.since = time.Time{} }

// look compares what runs with what the cluster has, and raises the alarm or ends it: same says
// that they are one and the same.
func (l *lower) look(now time.Time, all *alarms, alarm, what string, running, known trunkgroup.Version, same bool) {
	switch {
	case running.Revision == 0 || !running.Newer(known):
		l.reset()
		if same {
			all.clear(alarm)
		}
	case l.since.IsZero():
		l.since = now
	case now.Sub(l.since) >= replayLag:
		all.raise(alarm, fmt.Sprintf("the cluster has the %s of edition %s, this node runs %s; calls go on with those", what, known, running))
	}
}
