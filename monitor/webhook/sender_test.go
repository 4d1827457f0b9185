package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// far is a far end in memory.
type far struct {
	mu    sync.Mutex
	calls []call
	do    func(n int, r *http.Request) (code int, err error) // nil: 200
}

type call struct {
	at   time.Time
	id   string
	body string
	head http.Header
}

func (f *far) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.calls = append(f.calls, call{time.Now(), r.Header.Get(headerEvent), string(body), r.Header})
	n := len(f.calls)
	do := f.do
	f.mu.Unlock()
	code := 200
	if do != nil {
		var err error
		if code, err = do(n, r); err != nil {
			return nil, err
		}
	}
	return &http.Response{StatusCode: code, Body: http.NoBody, Header: http.Header{"Location": {"http://elsewhere.example/"}}, Request: r}, nil
}

func (f *far) seen() []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func env(name string) (string, bool) {
	v, ok := map[string]string{"HOOK_SECRET": "key", "HOOK_TOKEN": "token", "EMPTY": ""}[name]
	return v, ok
}

func hooks(list ...trunkgroup.Webhook) *trunkgroup.RoutePolicy {
	p := &trunkgroup.RoutePolicy{}
	for i := range list {
		w := &list[i]
		if w.Events == nil {
			w.Events = policy.EventKinds()
		}
		if w.Timeout == 0 {
			w.Timeout = 5 * time.Second
		}
		p.Webhooks = append(p.Webhooks, w)
	}
	return p
}

func event(n int) *policy.Event {
	return &policy.Event{
		Version: policy.EventVersion, ID: fmt.Sprintf("E%d", n), Kind: policy.OnRouteFailure, Call: policy.Call{ID: "C", Plan: "lcr"},
		Route: &policy.Route{CarrierID: "a", Headers: map[string]string{"X-Account": "42"}}, Attempts: []policy.Attempt{{CarrierID: "a", Status: 503}},
	}
}

func closed(s *Sender) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s.Close(ctx)
}

func one(s *Sender) Stats {
	list := s.Stats()
	if len(list) != 1 {
		return Stats{Fault: fmt.Sprintf("%d webhooks", len(list))}
	}
	return list[0]
}

// TestS046_EventsAreDelivered: over a real connection, signed, authorized, as JSON without the headers of routes.
func TestS046_EventsAreDelivered(t *testing.T) {
	got := make(chan *http.Request, 1)
	bodies := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
		got <- r
	}))
	defer server.Close()
	s := New(Config{Lookup: env, Agent: "Tandem"})
	defer closed(s)
	p := hooks(trunkgroup.Webhook{URL: server.URL + "/tandem", AuthHeader: "Bearer ${HOOK_TOKEN}", Secret: "${HOOK_SECRET}"})
	s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": p})
	s.Tell(p, event(1))
	body, r := <-bodies, <-got
	if r.Method != http.MethodPost || r.URL.Path != "/tandem" || r.Header.Get("Authorization") != "Bearer token" ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get(headerEvent) != "E1" || r.UserAgent() != "Tandem" {
		t.Errorf("request: %s %s %v", r.Method, r.URL, r.Header)
	}
	seconds, mac, _ := strings.Cut(strings.TrimPrefix(r.Header.Get(headerSignature), "t="), ",v1=")
	h := hmac.New(sha256.New, []byte("key"))
	h.Write([]byte(seconds + "." + string(body)))
	if want := hex.EncodeToString(h.Sum(nil)); mac != want {
		t.Errorf("signature %q, want %s", r.Header.Get(headerSignature), want)
	}
	var e policy.Event
	if err := json.Unmarshal(body, &e); err != nil || e.ID != "E1" || e.Attempts[0].Status != 503 {
		t.Errorf("body %s: %v", body, err)
	}
	if strings.Contains(string(body), "X-Account") {
		t.Errorf("the body tells headers of the route: %s", body)
	}
}

// TestRetries: what was not taken is repeated with the same id after growing pauses, and given up in the end.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     func(n int) (int, error)
		pauses []int // seconds from the first request
		failed bool
		why    string
	}{
		{"at once", func(int) (int, error) { return 204, nil }, []int{0}, false, ""},
		{"the third time", func(n int) (int, error) { return map[int]int{1: 503, 2: 429}[n] + map[bool]int{true: 200}[n > 2], nil }, []int{0, 1, 3}, false, ""},
		{"an error of the network", func(n int) (int, error) {
			if n == 1 {
				return 0, errors.New("connection refused")
			}
			return 200, nil
		}, []int{0, 1}, false, ""},
		{"never", func(int) (int, error) { return 500, nil }, []int{0, 1, 3, 7, 15, 31, 63, 123, 183, 243}, true, "answered 500"},
		{"refused for good", func(int) (int, error) { return 400, nil }, []int{0}, true, "answered 400"},
		{"sent elsewhere", func(int) (int, error) { return 302, nil }, []int{0}, true, "redirects"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &far{do: func(n int, _ *http.Request) (int, error) { return c.do(n) }}
				s := New(Config{Transport: f, Lookup: env})
				p := hooks(trunkgroup.Webhook{URL: "http://hooks.example/"})
				s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": p})
				s.Tell(p, event(7))
				time.Sleep(10 * time.Minute)
				calls := f.seen()
				if len(calls) != len(c.pauses) {
					t.Fatalf("%d requests, want %d", len(calls), len(c.pauses))
				}
				for i, want := range c.pauses {
					if got := calls[i].at.Sub(calls[0].at); got != time.Duration(want)*time.Second || calls[i].id != "E7" {
						t.Errorf("request %d after %s with id %s, want %ds", i, got, calls[i].id, want)
					}
				}
				st := one(s)
				if c.failed != (st.Failed == 1) || c.failed == (st.Delivered == 1) || !strings.Contains(st.Fault, c.why) || c.failed != (st.Fault != "") {
					t.Errorf("stats: %+v", st)
				}
				closed(s)
			})
		})
	}
}

// TestNobodyWaits: a far end that never answers costs the one who tells nothing, and the webhook beside it
// nothing either; what finds the queue full is counted.
func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{do: func(_ int, r *http.Request) (int, error) {
			if r.URL.Host == "dead.example" {
				<-r.Context().Done()
				return 0, r.Context().Err()
			}
			return 200, nil
		}}
		s := New(Config{Transport: f, Lookup: env, Queue: 50, Workers: 2})
		p := hooks(trunkgroup.Webhook{URL: "http://dead.example/"}, trunkgroup.Webhook{URL: "http://live.example/"})
		s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": p})
		begin := time.Now()
		for i := range 50 {
			s.Tell(p, event(i))
		}
		synctest.Wait()
		for i := range 50 {
			s.Tell(p, event(50+i))
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("telling took %s", took)
		}
		synctest.Wait()
		list := s.Stats()
		dead, live := list[0], list[1]
		if dead.Host != "dead.example" || live.Delivered != 100 || live.Dropped != 0 {
			t.Errorf("live: %+v", live)
		}
		// Two are under way, fifty wait.
		if dead.Dropped != 48 || dead.Delivered != 0 || dead.Fault == "" || dead.Queued != 50 {
			t.Errorf("dead: %+v", dead)
		}
		begin = time.Now()
		closed(s)
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("closing took %s", took)
		}
	})
}

// TestTimeout: an answer after the timeout is none.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{do: func(n int, r *http.Request) (int, error) {
			if n > 1 {
				return 200, nil
			}
			<-r.Context().Done()
			return 0, r.Context().Err()
		}}
		s := New(Config{Transport: f, Lookup: env})
		p := hooks(trunkgroup.Webhook{URL: "http://hooks.example/", Timeout: 300 * time.Millisecond})
		s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": p})
		s.Tell(p, event(1))
		time.Sleep(1300 * time.Millisecond)
		synctest.Wait()
		if st := one(s); st.Delivered != 1 || st.Fault != "" {
			t.Errorf("stats: %+v", st)
		}
		closed(s)
	})
}

// TestKinds: a webhook gets the events that it wants.
func TestKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{}
		s := New(Config{Transport: f, Lookup: env})
		p := hooks(trunkgroup.Webhook{URL: "http://hooks.example/", Events: []policy.EventKind{policy.OnAnswer}})
		s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": p})
		s.Tell(p, event(1))
		s.Tell(p, &policy.Event{ID: "A", Kind: policy.OnAnswer})
		s.Tell(hooks(), &policy.Event{ID: "B", Kind: policy.OnAnswer}) // of a plan that nobody knows
		closed(s)
		if calls := f.seen(); len(calls) != 1 || calls[0].id != "A" {
			t.Errorf("got %+v", calls)
		}
	})
}

// TestTablesComeAndGo: the same webhook goes on over tables with its queue and its counts; one that is gone
// still takes the events of calls that began before, and ends when no call can have any.
func TestTablesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{}
		s := New(Config{Transport: f, Lookup: env})
		first, second := hooks(trunkgroup.Webhook{URL: "http://hooks.example/"}), hooks(trunkgroup.Webhook{URL: "http://hooks.example/"})
		s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": first})
		s.Tell(first, event(1))
		s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": second, "none": nil})
		s.Tell(first, event(2))
		s.Tell(second, event(3))
		synctest.Wait()
		if st := one(s); st.Delivered != 3 {
			t.Errorf("stats: %+v", st)
		}
		s.Use(nil)
		if list := s.Stats(); len(list) != 0 {
			t.Errorf("a webhook that is gone is shown: %+v", list)
		}
		s.Tell(second, event(4))
		for range keptGenerations + 1 {
			s.Use(map[string]*trunkgroup.RoutePolicy{"none": hooks()})
		}
		s.Tell(second, event(5))
		synctest.Wait()
		if n := len(f.seen()); n != 4 {
			t.Errorf("%d requests, want 4", n)
		}
		if len(s.current) != 0 {
			t.Error("its line is still there")
		}
		closed(s)
		s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": first})
		if len(s.current) != 0 {
			t.Error("a closed sender begins")
		}
	})
}

// TestTablesOfTheSamePolicies: each called number that changes makes a table of its own, with the policies of the
// one before. Calls by the configuration before it go on to be told of.
func TestTablesOfTheSamePolicies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{}
		s := New(Config{Transport: f, Lookup: env})
		defer closed(s)
		first, second := hooks(trunkgroup.Webhook{URL: "http://hooks.example/"}), hooks(trunkgroup.Webhook{URL: "http://hooks.example/new"})
		s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": first})
		for range 3 * keptGenerations {
			s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": second, "none": nil})
		}
		s.Tell(first, event(1))
		s.Tell(second, event(2))
		synctest.Wait()
		if n := len(f.seen()); n != 2 {
			t.Errorf("%d events were told, want 2", n)
		}
	})
}

// TestSecretsThatAreMissing: what cannot be signed is not sent, and the reason shows no value.
func TestSecretsThatAreMissing(t *testing.T) {
	for _, w := range []trunkgroup.Webhook{
		{URL: "http://hooks.example/", Secret: "${NOBODY}"},
		{URL: "http://hooks.example/", Secret: "${EMPTY}"},
		{URL: "http://hooks.example/", AuthHeader: "${NOBODY}"},
		{URL: "${NOBODY}"},
		{URL: "${HOOK_TOKEN}"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &far{}
			s := New(Config{Transport: f, Lookup: env})
			p := hooks(w)
			s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": p})
			s.Tell(p, event(1))
			synctest.Wait()
			st := one(s)
			if st.Failed != 1 || len(f.seen()) != 0 || st.Fault == "" || strings.Contains(st.Fault, "token") {
				t.Errorf("%+v: %+v", w, st)
			}
			closed(s)
		})
	}
}

// TestTellAllocatesNothing: telling is on the path of calls.
func TestTellAllocatesNothing(t *testing.T) {
	f := &far{do: func(_ int, r *http.Request) (int, error) { <-r.Context().Done(); return 0, r.Context().Err() }}
	s := New(Config{Transport: f, Lookup: env, Queue: 10})
	p, e := hooks(trunkgroup.Webhook{URL: "http://hooks.example/"}), event(1)
	s.Use(map[string]*trunkgroup.RoutePolicy{"lcr": p})
	for range 100 {
		s.Tell(p, e)
	}
	if n := testing.AllocsPerRun(100, func() { s.Tell(p, e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Close(ctx)
}
