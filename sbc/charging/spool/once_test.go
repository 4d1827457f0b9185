package spool

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
)

// S-102: a node that dies between the last word of a call and the end of its will tells it once.
func TestS102_LastWordIsToldOnce(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	update := charging.Request{Session: "a", Kind: charging.Update, Number: 1, At: at, Used: 30}
	last := charging.Request{Session: "a", Kind: charging.Termination, Number: 2, At: at, Used: 7}
	s.Will("a", &charging.Will{Before: &update, Last: charging.Request{Session: "a", Kind: charging.Termination, Number: 2, At: at}, From: at, Told: 30})
	for _, r := range []charging.Request{update, last} {
		if _, err := s.Keep(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil { // without Gone
		t.Fatal(err)
	}
	if s, err = Open(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list := s.Items()
	if len(list) != 2 || list[0].Request.Used != 30 || list[1].Request.Used != 7 || !list[1].Request.Repeated {
		t.Errorf("%+v", list)
	}
}
