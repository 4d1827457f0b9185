package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/metrics"
	"github.com/tandem-sbc/tandem/sbc/uac"
)

// toldAccount is a registration as its node tells the others of it. Instants travel
// as seconds from the telling, since clocks differ.
type toldAccount struct {
	State     string   `json:"state"`
	Reason    string   `json:"reason,omitempty"`
	Registrar string   `json:"registrar,omitempty"`
	Contact   string   `json:"contact,omitempty"` // host and port alone: the user is a secret
	Since     *float64 `json:"since,omitempty"`
	Until     *float64 `json:"until,omitempty"`
	Next      *float64 `json:"next,omitempty"`
	Failures  int      `json:"failures,omitempty"`
}

// tell logs what is new, lets the other nodes know, and raises or clears the alarm.
func (s *accounts) tell(now time.Time) {
	var alarming []string
	for key, a := range s.held {
		st := a.r.Status()
		if st.Alarming() {
			alarming = append(alarming, fmt.Sprintf("%s since %s: %s", key, st.Since.UTC().Format(time.RFC3339), st.Reason))
		}
		if st.State == a.told.State && st.Reason == a.told.Reason && st.Until.Equal(a.told.Until) && st.Next.Equal(a.told.Next) {
			continue
		}
		s.note(key, a, &st)
		a.told = st
		s.share(now, key, a, &st)
	}
	if len(alarming) == 0 {
		s.world.alarm("")
		return
	}
	slices.Sort(alarming)
	s.world.alarm("not registered: " + strings.Join(alarming, "; "))
}

// note writes one line for each change of state or of its reason.
func (s *accounts) note(key string, a *account, st *uac.Status) {
	if st.State == a.told.State && st.Reason == a.told.Reason {
		return
	}
	switch {
	case st.State == uac.Failed, st.State == uac.Registered && st.Reason != "":
		s.log.Warn("registration at a carrier", "member", key, "state", st.State.String(), "reason", st.Reason, "next", st.Next, "failures", st.Failures)
	case st.State == uac.Registered:
		s.log.Info("registration at a carrier", "member", key, "state", st.State.String(), "until", st.Until)
	}
}

func (s *accounts) share(now time.Time, key string, a *account, st *uac.Status) {
	in := func(t time.Time) *float64 {
		if t.IsZero() {
			return nil
		}
		seconds := t.Sub(now).Seconds()
		return &seconds
	}
	told := toldAccount{
		State: st.State.String(), Reason: st.Reason, Contact: hostOf(st.Contact), Since: in(st.Since), Until: in(st.Until), Next: in(st.Next), Failures: st.Failures,
	}
	if a.addr.IsValid() {
		told.Registrar = a.addr.String()
	}
	value, err := json.Marshal(told)
	if err != nil {
		return // never: numbers and texts
	}
	s.mu.Lock()
	s.own[key] = accountWord{told, now, s.node}
	s.mu.Unlock()
	s.world.tell(key, value)
	s.world.heard()
}

// accountWord is what a node said of a registration.
type accountWord struct {
	toldAccount
	at   time.Time // when it said so, by this node's clock
	node string
}

// moment returns an instant that was told in seconds from the telling; nil for none.
func (w *accountWord) moment(seconds *float64) *time.Time {
	if seconds == nil {
		return nil
	}
	t := w.at.Add(time.Duration(*seconds * float64(time.Second))).Truncate(time.Millisecond)
	return &t
}

// word is what is said of a member's registration: by this node where it keeps it,
// else by whoever said something last.
func (s *accounts) word(member string) (word accountWord, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if word, ok = s.own[member]; ok {
		return word, true
	}
	for _, w := range s.others[member] {
		if !ok || w.at.After(word.at) {
			word, ok = w, true
		}
	}
	return word, ok
}

// lapsed says why a member's registration has failed, and since when: by the word of
// the node that keeps it. While nobody has said anything of it, it has not.
func (s *accounts) lapsed(member string) (reason string, since time.Time) {
	word, ok := s.word(member)
	if !ok || word.State != uac.Failed.String() {
		return "", time.Time{}
	}
	if at := word.moment(word.Since); at != nil {
		since = *at
	}
	return word.Reason, since
}

// metrics lists this node's registrations for a scrape.
func (s *accounts) metrics() (list []metrics.Account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for member, w := range s.own {
		list = append(list, metrics.Account{Member: member, Registered: w.State == uac.Registered.String(), Failures: w.Failures})
	}
	return list
}

// hostOf is what stands behind the user of a URI.
func hostOf(uri string) string {
	_, host, _ := strings.Cut(uri, "@")
	return host
}

func readTold(value []byte) (toldAccount, error) {
	var told toldAccount
	err := json.Unmarshal(value, &told)
	return told, err
}
