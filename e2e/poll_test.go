//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// pollEvery is the pause between two looks at a condition.
const pollEvery = 50 * time.Millisecond

// errNotYet is the error of a condition that has no more to say.
var errNotYet = errors.New("not yet")

// eventually waits until condition returns nil, looking again and again, and
// fails the test with its last error when that takes longer than ceiling. The
// ceiling is generous: it ends a broken run, it measures nothing.
func eventually(t testing.TB, ceiling time.Duration, what string, condition func() error) {
	t.Helper()
	if err := poll(ceiling, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// poll is eventually for code that handles the error itself.
func poll(ceiling time.Duration, condition func() error) error {
	deadline := time.Now().Add(ceiling)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := condition()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %v: %w", ceiling, err)
		}
		<-tick.C
	}
}

// ended waits for a program's end and fails the test when it takes too long.
func ended(t testing.TB, ceiling time.Duration, p interface{ Done() <-chan struct{} }) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(ceiling):
		t.Fatalf("a program did not end within %v", ceiling)
	}
}
