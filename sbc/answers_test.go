package sbc

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// A shard that hangs is found, and named; one that goes on is fine again.
func TestAnswers(t *testing.T) {
	n := startNode(t, trunkgroup.UDP, sim.Answers(0, 0))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := n.Answers(ctx); err != nil {
		t.Fatalf("an idle node: %v", err)
	}
	hangs, release := make(chan struct{}), make(chan struct{})
	n.shards[1].push(event{kind: evAsk, ask: func(*b2bua.Shard) { close(hangs); <-release }})
	<-hangs
	short, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if err := n.Answers(short); err == nil || !strings.Contains(err.Error(), "shard 1") {
		t.Errorf("shard 1 hangs: %v", err)
	}
	close(release)
	if err := n.Answers(ctx); err != nil {
		t.Errorf("after it hung: %v", err)
	}
}

// A shard whose queue has no room for a question is busy, and does not hang: a flood of messages must not look like it.
func TestAnswersOfAFullShard(t *testing.T) {
	n := startNode(t, trunkgroup.UDP, sim.Answers(0, 0))
	hangs, release := make(chan struct{}), make(chan struct{})
	sh := n.shards[1]
	sh.push(event{kind: evAsk, ask: func(*b2bua.Shard) { close(hangs); <-release }})
	<-hangs
	for sh.inbox.event(event{kind: evAsk, ask: func(*b2bua.Shard) {}}) {
	}
	full := sh.inbox.lost()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answers := make(chan error)
	go func() { answers <- n.Answers(ctx) }()
	for sh.inbox.lost() == full {
		runtime.Gosched()
	}
	close(release)
	if err := <-answers; err != nil {
		t.Error(err)
	}
}
