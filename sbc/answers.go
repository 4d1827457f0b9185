package sbc

import (
	"context"
	"fmt"
	"time"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// answerLook is how often a shard that has not answered yet is looked at.
const answerLook = 10 * time.Millisecond

// Answers returns nil when every shard has answered a question, which waits with the messages of calls, or has come
// back for more of them since: one whose queue is long, or too full for a question, works. Errors: which shard has done
// neither when ctx ends.
func (s *Server) Answers(ctx context.Context) error {
	look := time.NewTicker(answerLook)
	defer look.Stop()
	for _, sh := range s.shards {
		before := sh.inbox.turn()
		answer := make(chan struct{})
		sh.push(event{kind: evAsk, ask: func(*b2bua.Shard) { close(answer) }})
		for waits := true; waits; {
			select {
			case <-answer:
				waits = false
			case <-look.C:
				waits = sh.inbox.turn() == before
			case <-ctx.Done():
				return fmt.Errorf("shard %d does not answer: %w", sh.index, ctx.Err())
			}
		}
	}
	return nil
}
