package sbc

import (
	"context"
	"fmt"

	"github.com/tandem-sbc/tandem/sbc/b2bua"
)

// Answers returns nil when every shard has answered a question, which waits with the messages of calls. Errors: which
// shard has not when ctx ends.
func (s *Server) Answers(ctx context.Context) error {
	for _, sh := range s.shards {
		answer := make(chan struct{})
		// A question that finds no room is one that gets no answer.
		sh.push(event{kind: evAsk, ask: func(*b2bua.Shard) { close(answer) }})
		select {
		case <-answer:
		case <-ctx.Done():
			return fmt.Errorf("shard %d does not answer: %w", sh.index, ctx.Err())
		}
	}
	return nil
}
