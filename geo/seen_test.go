package geo

import (
	"testing"
	"time"
)

// DEC-08: "The target keeps seen call ids until the call ends plus 64*T1"; DEC-07: accepted once.
func TestDEC08_SeenCallIDs(t *testing.T) {
	const keep = 32 * time.Second
	now := time.Unix(0, 0)
	var s Seen
	if !s.Accept("one") || s.Accept("one") || !s.Accept("two") {
		t.Error("each id is accepted once")
	}
	s.Expire(now.Add(time.Hour))
	if s.Accept("one") || !s.Deadline().IsZero() {
		t.Error("a running call is remembered however long it takes")
	}
	end := now.Add(2 * time.Hour)
	s.End("one", end, keep)
	s.End("one", end.Add(time.Hour), keep)
	s.End("never heard of", end, keep)
	if got := s.Deadline().Sub(end); got != keep {
		t.Errorf("deadline %v after the end, want %v", got, keep)
	}
	s.Expire(end.Add(keep - 1))
	if s.Accept("one") {
		t.Error("forgotten a nanosecond early")
	}
	s.Expire(end.Add(keep))
	if s.Len() != 1 || !s.Accept("one") {
		t.Errorf("%d ids, want one running call", s.Len())
	}
	s.End("one", end, keep)
	s.End("two", end, keep)
	s.Expire(end.Add(keep))
	if s.Len() != 0 || s.calls != nil || s.ended != nil {
		t.Errorf("%d ids and their memory remain", s.Len())
	}
}
