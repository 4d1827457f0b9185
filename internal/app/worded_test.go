package app

import (
	"errors"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Every state that an operator sees says since when.
func TestAlarmsSaySinceWhen(t *testing.T) {
	a := cluster.Alarm{Name: "x", Active: true, Detail: "the disk is full", Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if got := alarmText(a); got != "the disk is full (since 2026-01-02T03:04:05Z)" {
		t.Errorf("%q", got)
	}
}

func TestErrorsAreWordedForOperators(t *testing.T) {
	staged := &fsm.CanaryError{Version: trunkgroup.Version{Cluster: "test", Generation: 2, Revision: 7}, Site: "ashburn"}
	for _, x := range []struct {
		err   error
		class error
		want  string
	}{
		{as(admin.ErrRefused, cluster.ErrMember), cluster.ErrMember, "refused: this node is part of the consensus: there is nothing to rejoin"},
		{as(admin.ErrUnavailable, cluster.ErrNoLeader), admin.ErrUnavailable, "unavailable: no leader"},
		{as(admin.ErrRefused, errors.New("cluster: fsm: twice")), admin.ErrRefused, "refused: twice"},
		{adminError(&cluster.RefusedError{Message: staged.Error()}), admin.ErrRefused, "refused: revision 2.7 is a canary in site ashburn: promote or abandon it first"},
		{rescueError(cluster.ErrConfirm), admin.ErrInvalid, "invalid: the confirmation is not the id of this cluster"},
	} {
		if got := x.err.Error(); got != x.want || !errors.Is(x.err, x.class) {
			t.Errorf("%q, want %q of class %v", got, x.want, x.class)
		}
	}
}
