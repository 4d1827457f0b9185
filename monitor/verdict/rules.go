package verdict

import (
	"slices"
	"time"
)

// Silence is what a node hears of the targets in one group that it probes itself.
type Silence struct {
	Provider bool      // a pstn-provider group
	Targets  int       // probed by this node
	Silent   int       // of these: gave no reply of any kind to the last probe
	First    time.Time // when the first of the silent ones went silent
	Last     time.Time // when the last of them did
}

// groupsForIsolation is how many groups must go silent together before a node doubts itself.
const groupsForIsolation = 3

// Isolated says whether this node has lost the network, rather than the members their lives (DEC-12): "all monitored members of at least three
// groups went silent within one interval AND no peer node and no provider answers". interval is the probe interval, with the reply timeout
// added: that is how far apart the first missed probes of members that died together lie.
func Isolated(groups []Silence, peerAnswers bool, interval time.Duration) bool {
	if peerAnswers {
		return false
	}
	var whole []Silence
	for _, g := range groups {
		if g.Provider && g.Silent < g.Targets {
			return false
		}
		if g.Targets > 0 && g.Silent == g.Targets {
			whole = append(whole, g)
		}
	}
	slices.SortFunc(whole, func(a, b Silence) int { return a.Last.Compare(b.Last) })
	for end := groupsForIsolation - 1; end < len(whole); end++ {
		together := 0
		for _, g := range whole[:end+1] {
			if whole[end].Last.Sub(g.First) <= interval {
				together++
			}
		}
		if together >= groupsForIsolation {
			return true
		}
	}
	return false
}

// PanicShare is the default share of a site's members that must go down together for a panic.
const PanicShare = 0.9

// Panicking says whether probe verdicts of a site are not to be believed (DEC-12): "more than panic_share of all members of a site went down
// within two intervals". down holds when each member that is down now went down, members is how many there are.
func Panicking(down []time.Time, members int, share float64, interval time.Duration) bool {
	if len(down) == 0 || float64(len(down)) <= share*float64(members) {
		return false
	}
	down = slices.Clone(down)
	slices.SortFunc(down, time.Time.Compare)
	first := 0
	for last := range down {
		for down[last].Sub(down[first]) > 2*interval {
			first++
		}
		if float64(last-first+1) > share*float64(members) {
			return true
		}
	}
	return false
}

// earlier returns the earlier of two times, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
