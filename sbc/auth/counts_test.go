package auth

import (
	"testing"
	"time"
)

func entries(c *counts) (n int) {
	for i := range c.shards {
		n += c.shards[i].entries
	}
	return n
}

// Memory stays bounded, and what was forgotten for want of room is refused, never accepted a second time.
func TestCountsAreBounded(t *testing.T) {
	const limit = 160
	c := newCounts(limit)
	now := testStart
	type used struct {
		mark   uint64
		second uint32
	}
	var all []used
	for i := range 5000 {
		now = now.Add(100 * time.Millisecond)
		u := used{uint64(i) * 7919, uint32(now.Unix())}
		if c.use(u.mark, u.second, 1, now) {
			all = append(all, u)
		}
		if n := entries(c); n > limit {
			t.Fatalf("%d entries after %d nonces", n, i+1)
		}
	}
	if len(all) < 1000 {
		t.Fatalf("only %d fresh nonces were taken", len(all))
	}
	for _, u := range all {
		if c.use(u.mark, u.second, 1, now) {
			t.Fatalf("nonce %d served twice", u.mark)
		}
	}
}

// The windows of dead nonces are freed, and nothing that is alive is forgotten meanwhile.
func TestCountsExpire(t *testing.T) {
	c := newCounts(1 << 20)
	now := testStart
	for range 1000 {
		now = now.Add(2 * time.Second)
		mark, second := uint64(now.Unix()), uint32(now.Unix())
		if !c.use(mark, second, 5, now) || c.use(mark, second, 5, now) || !c.use(mark, second, 6, now) {
			t.Fatalf("at %v", now)
		}
		if old := now.Add(-Lifetime - Skew); old.After(testStart) && c.use(uint64(old.Unix()), uint32(old.Unix()), 6, now) {
			t.Fatalf("the count of a nonce of %v is forgotten at %v", old, now)
		}
	}
	if n, most := entries(c), int((Lifetime+2*Skew)/(2*time.Second))+windowSeconds; n > most {
		t.Errorf("%d entries are kept, want at most %d", n, most)
	}
}

// A clock that was set far ahead and back again does not lock callers out.
func TestCountsSurviveClockSteps(t *testing.T) {
	c := newCounts(16)
	ahead := testStart.Add(24 * time.Hour)
	for i := range uint64(100) {
		c.use(i*countShards, uint32(ahead.Unix()), 1, ahead)
	}
	for i := range uint64(20) {
		now := testStart.Add(time.Duration(i) * 2 * time.Minute)
		if !c.use(i*countShards, uint32(now.Unix()), 1, now) {
			t.Fatalf("refused at %v", now)
		}
	}
}
