package sbc

import (
	"context"
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
