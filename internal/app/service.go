package app

import (
	"context"
	"fmt"

	"github.com/tandem-sbc/tandem/sbc/drain"
)

// Service is the node as a service manager sees it: sdnotify.Service.
type Service struct{ app *App }

// Service returns what a service manager may be told.
func (a *App) Service() Service { return Service{a} }

// Unready implements sdnotify.Service: the first line of /readyz that is broken.
func (s Service) Unready() string { return s.app.desk.ready() }

// Answers implements sdnotify.Service. It goes through what a node cannot work without: the goroutines that own the
// calls, the drain's lock, and the locks of the cluster's state. Peers, disks and quorums are not asked: a restart would
// mend none of them.
func (s Service) Answers(ctx context.Context) error {
	s.app.drainer.status()
	s.app.node.Status()
	if s.app.server == nil {
		return nil
	}
	return s.app.server.Answers(ctx)
}

// Line implements sdnotify.Service.
func (s Service) Line() string {
	a := s.app
	st := a.node.Status()
	leader := "no leader"
	if st.Raft.Leader != "" {
		leader = "leader " + st.Raft.Leader
	}
	phase := a.drainer.status().Phase.String()
	if a.server == nil {
		return fmt.Sprintf("%s as witness, %s", phase, leader)
	}
	calls := "calls"
	n := a.server.Stats().Calls
	if n == 1 {
		calls = "call"
	}
	return fmt.Sprintf("%s, %d %s, %s, revision %d", phase, n, calls, leader, st.Running.Revision)
}

// Ends implements sdnotify.Service. An order by command can be taken back, and a node that drains with --stay does not
// end by itself: a manager that heard of these would kill what is there to stay.
func (s Service) Ends() bool {
	st := s.app.drainer.status()
	return st.Phase == drain.Ending || st.Phase != drain.Serving && st.Order.Final
}
