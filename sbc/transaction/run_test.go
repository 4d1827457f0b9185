package transaction

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// machine is what Client and Answer have in common.
type machine interface {
	Deadline() time.Time
	Expire(now time.Time) Do
}

// epoch is the start of virtual time.
func epoch() time.Time { return time.Unix(1_700_000_000, 0) }

func at(d time.Duration) time.Time { return epoch().Add(d) }

// alarms runs a machine from deadline to deadline up to the given instant and lists what each of them
// did: "500ms send". A deadline must come neither early nor late: a nanosecond before it nothing happens.
func alarms(t *testing.T, m machine, until time.Duration) []string {
	t.Helper()
	var log []string
	for range 1000 {
		d := m.Deadline()
		if d.IsZero() || d.After(at(until)) {
			return log
		}
		if early := m.Expire(d.Add(-time.Nanosecond)); early != 0 {
			t.Errorf("%v happens before its deadline %v", early, d.Sub(epoch()))
		}
		log = append(log, fmt.Sprintf("%v %v", d.Sub(epoch()), m.Expire(d)))
	}
	t.Fatal("the alarms do not end")
	return nil
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func wantDo(t *testing.T, what string, got, want Do) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func wantState(t *testing.T, got, want State) {
	t.Helper()
	if got != want {
		t.Errorf("state %v, want %v", got, want)
	}
}

func newClient(invite, reliable bool) *Client {
	t := DefaultTimers()
	c := new(Client)
	c.Start(epoch(), &t, invite, reliable)
	return c
}
