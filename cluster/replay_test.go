package cluster

import (
	"testing"
	"testing/synctest"
	"time"
)

// The state machine may be a moment behind what raft calls applied, as at a restart on
// a machine that is busy: that is no cluster that lost its memory.
func TestDEC14_AReplayThatLagsIsNoAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVirtual(t)
		nodes := v.run()
		time.Sleep(10 * time.Second)
		v.propose(nodes["dal-1"], "one")
		time.Sleep(2 * time.Second)
		m := nodes["ash-1"]
		m.machine.reset()
		for range 3 {
			time.Sleep(500 * time.Millisecond)
			if alarmed(m, AlarmLower) {
				t.Error("the alarm is raised at once")
			}
		}
		time.Sleep(4 * time.Second)
		if !alarmed(m, AlarmLower) {
			t.Error("a document that stays lower is no alarm")
		}
		v.endAll(nodes)
	})
}
