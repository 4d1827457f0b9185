package cluster

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// DEC-14: what is older at the cluster must have been so for a moment before somebody is told,
// and is told no more once both have the same.
func TestDEC14_LowerIsToldAfterAMoment(t *testing.T) {
	var l lower
	var all alarms
	active := func() bool { return len(all.list()) == 1 }
	v := func(edition uint64) trunkgroup.Version {
		return trunkgroup.Version{Cluster: "test", Generation: 1, Revision: edition}
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	look := func(after time.Duration, running, known uint64) {
		l.look(now.Add(after), &all, AlarmDecksLower, "rate decks", v(running), v(known), running == known)
	}
	look(0, 7, 5)
	look(replayLag-1, 7, 5)
	if active() {
		t.Fatal("told at once")
	}
	look(replayLag, 7, 5)
	if !active() {
		t.Fatal("not told")
	}
	look(replayLag, 7, 8) // newer there, not yet here
	if !active() {
		t.Error("ended before both have the same")
	}
	look(replayLag, 8, 8)
	if active() {
		t.Error("goes on")
	}
	look(2*replayLag, 9, 8)
	l.reset()
	look(4*replayLag, 9, 8)
	if active() {
		t.Error("the time before a reset counts")
	}
	look(8*replayLag, 0, 8)
	if active() {
		t.Error("a node that runs none is newer")
	}
}
