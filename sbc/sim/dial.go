package sim

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Call is one call that a test or a person follows step by step.
type Call struct {
	load *Load
	ref  uint64

	mu       sync.Mutex
	codes    []int
	record   *CallRecord
	changed  chan struct{} // closed and replaced at each event
	answered bool
}

// Dial places one call. With Placement.Hold negative it stays up until HangUp.
func (l *Load) Dial(p Placement) *Call {
	c := &Call{load: l, changed: make(chan struct{})}
	next := p.Notify
	p.Notify = func(e Event) {
		c.note(e)
		if next != nil {
			next(e)
		}
	}
	l.do(func(now time.Time) { c.ref = l.caller.Place(now, p) })
	return c
}

func (c *Call) note(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Code > 0 {
		c.codes = append(c.codes, e.Code)
		c.answered = c.answered || e.Code/100 == 2
	}
	if e.Record != nil {
		c.record = e.Record
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// Codes returns the responses to the INVITE so far, 100 left out.
func (c *Call) Codes() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]int(nil), c.codes...)
}

// HangUp ends the call: by CANCEL while it rings, by BYE when it is up.
func (c *Call) HangUp() {
	c.load.do(func(now time.Time) { c.load.caller.Cancel(now, c.ref) })
}

// Request sends a re-INVITE, UPDATE, INFO or OPTIONS in the dialog; false when
// the call is not up or a request is out.
func (c *Call) Request(method string) (sent bool) {
	c.load.do(func(now time.Time) { sent = c.load.caller.Request(now, c.ref, method) })
	return sent
}

// Ringing waits for a response of 101-199 or a final one and returns it.
func (c *Call) Ringing(ctx context.Context) (code int, err error) {
	err = c.wait(ctx, func() bool {
		if len(c.codes) > 0 {
			code = c.codes[0]
		}
		return len(c.codes) > 0 || c.record != nil
	})
	return code, err
}

// Answered waits for the 2xx; a call that ends without one is an error.
func (c *Call) Answered(ctx context.Context) error {
	if err := c.wait(ctx, func() bool { return c.answered || c.record != nil }); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answered {
		return fmt.Errorf("call %s: %s %d %s", c.record.CallID, c.record.Result, c.record.Code, c.record.Why)
	}
	return nil
}

// Done waits for the end of the call and returns its record.
func (c *Call) Done(ctx context.Context) (*CallRecord, error) {
	if err := c.wait(ctx, func() bool { return c.record != nil }); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record, nil
}

// wait returns when cond, which runs under the lock, holds.
func (c *Call) wait(ctx context.Context, cond func() bool) error {
	for {
		c.mu.Lock()
		ok, changed := cond(), c.changed
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("call: %w", ctx.Err())
		}
	}
}
