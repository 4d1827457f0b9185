package peers

import (
	"testing"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/diameter"
)

// linkUp is a link whose peer takes all and answers nothing by itself; replies are what
// became of the requests, by their session.
func linkUp(t *testing.T) (l *link, send func(session string, kind charging.Kind) bool, replies map[string]Reply) {
	t.Helper()
	s := New(Config{Identity: diameter.Identity{Host: "dal-1.example", Realm: "example"}, Peers: []Peer{{Name: "a", Realm: "example"}}})
	l, replies = s.links[0], make(map[string]Reply)
	l.host, l.credit, l.account = "ocs.example", true, true
	l.begin(false)
	return l, func(session string, kind charging.Kind) bool {
		r := &charging.Request{Session: session, Kind: kind}
		_, ok := l.send(&Order{Request: r, Done: func(r Reply) { replies[session] = r }})
		return ok
	}, replies
}

// answer gives the link an answer to its last request.
func answer(t *testing.T, l *link, session string, kind charging.Kind) {
	t.Helper()
	h := diameter.Header{Command: diameter.CreditControl, App: diameter.AppCredit, HopByHop: l.hop}
	if !kind.Online() {
		h.Command, h.App = diameter.Accounting, diameter.AppAccounting
	}
	id := diameter.Identity{Host: "ocs.example", Realm: "example"}
	m, err := diameter.Parse(diameter.AppendAnswer(nil, &id, &diameter.Message{Header: h},
		&charging.Request{Session: session, Kind: kind}, &charging.Answer{Result: 2001, Granted: 30, HasGrant: true}))
	if err != nil {
		t.Fatal(err)
	}
	l.take(&m)
}

// S-102: an answer with the Session-Id of another call, or of another kind, is none: the
// request goes on to wait for its own, and has that once.
func TestS102_AnswerOfAnotherSession(t *testing.T) {
	l, send, replies := linkUp(t)
	send("mine", charging.Initial)
	answer(t, l, "another", charging.Initial)
	answer(t, l, "mine", charging.Start)
	if r, ok := replies["mine"]; ok {
		t.Fatalf("taken: %+v", r)
	}
	answer(t, l, "mine", charging.Initial)
	if r := replies["mine"]; !r.Answered || r.Answer.Granted != 30 {
		t.Errorf("%+v", r)
	}
	delete(replies, "mine")
	answer(t, l, "mine", charging.Initial) // twice
	if r, ok := replies["mine"]; ok || len(l.pending) != 0 {
		t.Errorf("taken twice: %+v, %d pending", r, len(l.pending))
	}
}

// A peer that does not read makes nobody wait: what finds no place is not sent.
func TestS102_PeerThatDoesNotRead(t *testing.T) {
	l, send, _ := linkUp(t)
	for range queueSize {
		if !send("s", charging.Initial) {
			t.Fatal("there is room")
		}
	}
	if send("one more", charging.Initial) || len(l.pending) != queueSize {
		t.Errorf("sent, %d pending", len(l.pending))
	}
	l.asked(&diameter.Message{Header: diameter.Header{Flags: diameter.FlagRequest, Command: diameter.DeviceWatchdog}})
}
