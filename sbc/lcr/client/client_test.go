package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestS090_S091_AnAnswerIsKeptForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(oneRoute), nil)
		first := w.route("+12025550123")
		if first.Source != trunkgroup.RoutesLive || first.Routes[0].CarrierID != "carrier-a" || first.Routes[0].Rate != 0.0042 {
			t.Fatalf("%+v", first)
		}
		time.Sleep(59 * time.Second)
		if set := w.route("+12025550123"); set.Source != trunkgroup.RoutesCached || set.Routes[0].Rate != 0.0042 || w.count() != 1 {
			t.Fatalf("%+v, asked %d times", set, w.count())
		}
		time.Sleep(time.Second)
		if set := w.route("+12025550123"); set.Source != trunkgroup.RoutesLive || w.count() != 2 {
			t.Fatalf("%+v, asked %d times", set, w.count())
		}
		w.route("+12025550124") // another number, another answer
		if w.count() != 3 {
			t.Errorf("asked %d times", w.count())
		}
		w.mu.Lock()
		q, shared := w.asked[0], w.sharings[0]
		w.mu.Unlock()
		if q.Version != "1" || q.CallID != "call-1@a" || q.Dialed != "+12025550123" || q.Source.TrunkGroup != "cust-trunks" {
			t.Errorf("%+v", q)
		}
		if !has(shared.key.String(), "/cust-trunks:+12025550123") || shared.body != oneRoute || shared.ttl != time.Minute {
			t.Errorf("%+v", shared)
		}
		if s := w.status(); s.Hits != 1 || s.Misses != 3 || s.Results[Routed] != 3 {
			t.Errorf("%+v", s)
		}
	})
}

func TestC6_S091_WhatSaysZeroIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []string{
			`{"routes":[{"carrier_id":"a","gateway_group":"g"}],"cache_ttl_secs":0}`,
			`{"reject":{"code":403,"reason":"no"}}`,
		}
		for _, text := range answers {
			w := newWorld(t, body(text), nil)
			w.route("+1")
			w.route("+1")
			w.mu.Lock()
			if len(w.asked) != 2 || len(w.sharings) != 0 {
				t.Errorf("%s: asked %d times, shared %d", text, len(w.asked), len(w.sharings))
			}
			w.mu.Unlock()
		}
		w := newWorld(t, body(`{"routes":[{"carrier_id":"a","gateway_group":"g"}]}`), func(s *trunkgroup.DecisionSpec) { s.CacheTTL = trunkgroup.Off })
		w.route("+1")
		w.route("+1")
		if w.count() != 2 {
			t.Error("the configured default is off, and an answer that does not say was kept")
		}
	})
}

func TestS012_S013_RejectAndNoRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(`{"reject":{"code":403,"reason":"Blocked"},"routes":[{"carrier_id":"a","gateway_group":"g"}]}`), nil)
		if set := w.route("+1"); set.Reject != (trunkgroup.Rejection{Code: 403, Reason: "Blocked"}) {
			t.Errorf("%+v", set)
		}
		n := newWorld(t, body(`{}`), nil)
		if set := n.route("+1"); set.Absent || len(set.Routes) != 0 || set.Source != trunkgroup.RoutesLive {
			t.Errorf("%+v", set)
		}
	})
}

func TestS093_S011_FailuresAreFallbackOrNothing(t *testing.T) {
	huge := `{"routes":[],"x":"` + strings.Repeat("x", 300_000) + `"}`
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		result Result
		why    string
	}{
		"500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, BadStatus, "it answered 500"},
		"404": {http.NotFound, BadStatus, "it answered 404"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusTemporaryRedirect)
		}, BadStatus, "it answered 307"},
		"wrong JSON": {body("<html>"), Invalid, "no JSON"},
		"null":       {body("null"), Invalid, "no JSON object"},
		"half JSON":  {body(`{"routes":[`), Invalid, "no JSON at octet"},
		"huge":       {body(huge), Invalid, "more than 262144 octets"},
		"empty":      {body(""), Invalid, "no JSON"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"routes"`)
		}, Unreachable, "EOF"},
		"panic": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Unreachable, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.handle, nil)
				set := w.route("+1")
				if !isFallback(set) || !has(set.Why, c.why) {
					t.Errorf("%+v", set)
				}
				w.mu.Lock()
				if len(w.sharings) != 0 {
					t.Error("a fallback was shared")
				}
				w.mu.Unlock()
				if w.client.Known(w.query("+1")) != nil {
					t.Error("a fallback was kept")
				}
				if s := w.status(); s.Results[c.result] != 1 || s.Fallbacks != 1 {
					t.Errorf("%+v", s)
				}
				none := newWorld(t, c.handle, func(s *trunkgroup.DecisionSpec) { s.FallbackGroup = "" })
				if set := none.route("+1"); !set.Absent || len(set.Routes) != 0 || !has(set.Why, c.why) {
					t.Errorf("S-011: %+v", set)
				}
			})
		})
	}
}

// Slow names, slow connections, slow headers, slow bodies: a call waits no longer than
// the plan's timeout, to the millisecond.
func TestS093_TheDelayIsBoundedByTheTimeout(t *testing.T) {
	for name, world := range map[string]func(t *testing.T) *world{
		"silent": func(t *testing.T) *world {
			return newWorld(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil)
		},
		"half open": func(t *testing.T) *world {
			w := newWorld(t, nil, nil)
			w.net.dial = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
			return w
		},
		"slow body": func(t *testing.T) *world {
			return newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					_, _ = io.WriteString(w, " ")
					_ = http.NewResponseController(w).Flush()
					<-time.After(100 * time.Millisecond)
				}
			}, nil)
		},
		"slow failure": func(t *testing.T) *world {
			return newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				<-time.After(time.Second)
				w.WriteHeader(http.StatusInternalServerError)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := world(t)
				begin := time.Now()
				set := w.route("+1")
				took := time.Since(begin)
				want := 2 * time.Second
				if name == "slow failure" {
					want = time.Second // the code says enough
				}
				if !isFallback(set) || took != want {
					t.Errorf("%+v after %s", set, took)
				}
				synctest.Wait()
				if n := w.status().Pending; n != 0 {
					t.Errorf("%d pending", n)
				}
			})
		})
	}
}

// Names in an answer share its deadline, and an answer whose names come late is still
// an answer: what is not resolved is not reachable (S-043).
func TestS043_NamesOfNextHopsShareTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const two = `{"routes":[{"carrier_id":"a","next_hop":"gw.slow.example"},{"carrier_id":"b","gateway_group":"carrier-b"}],"cache_ttl_secs":600}`
		w := newWorld(t, body(two), nil)
		w.names.slow = 3 * time.Second
		w.names.addrs["gw.slow.example"] = addr("192.0.2.7:5060")
		begin := time.Now()
		set := w.route("+1")
		if took := time.Since(begin); took != 2*time.Second || len(set.Routes) != 2 || set.Routes[0].Hops != nil || set.Source != trunkgroup.RoutesLive {
			t.Fatalf("%+v after %s", set, took)
		}
		time.Sleep(2 * time.Second) // the lookup has ended, and the kept answer has its address
		w.client.Renamed(w.names.first(), addr("192.0.2.7:5060"))
		late := w.route("+1")
		_ = late
		again := w.live("+2")
		if len(again.Routes[0].Hops) != 1 || again.Routes[0].Hops[0].Addr.String() != "192.0.2.7:5060" || again.Routes[0].Hops[0].Name != "gw.slow.example" {
			t.Fatalf("%+v", again)
		}
		if n := w.names.asked(); n != 1 {
			t.Errorf("%d lookups", n)
		}
		// Its owner moves it: kept answers follow, those that calls hold do not.
		w.client.Renamed(w.names.first(), addr("192.0.2.8:5060"))
		moved := w.client.Known(w.query("+2"))
		if moved.Routes[0].Hops[0].Addr.String() != "192.0.2.8:5060" || again.Routes[0].Hops[0].Addr.String() != "192.0.2.7:5060" {
			t.Errorf("%+v", moved)
		}
	})
}

// A name that is not there costs no wait the second time.
func TestS043_ANameThatIsNotThereIsNotWaitedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(`{"routes":[{"carrier_id":"a","next_hop":"gone.example"}],"cache_ttl_secs":0}`), nil)
		w.names.slow = time.Second
		for i, want := range []time.Duration{time.Second, 0, 0} {
			begin := time.Now()
			if set := w.route("+1"); set.Routes[0].Hops != nil || time.Since(begin) != want {
				t.Errorf("call %d: %+v after %s", i, set, time.Since(begin))
			}
		}
	})
}

// The kept answer of a name that was resolved too late for its call gets its address.
func TestKeptAnswersGetAddressesThatCameLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(`{"routes":[{"carrier_id":"a","next_hop":"gw.slow.example"}],"cache_ttl_secs":600}`), nil)
		w.names.slow = 3 * time.Second
		w.names.addrs["gw.slow.example"] = addr("192.0.2.7:5060")
		w.route("+1")
		time.Sleep(2 * time.Second)
		if set := w.client.Known(w.query("+1")); set == nil || len(set.Routes[0].Hops) != 1 {
			t.Errorf("%+v", set)
		}
	})
}

// One question for each key is under way; all who wait get its answer.
func TestOneQuestionForEachKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(rw, oneRoute)
		}, nil)
		var wg sync.WaitGroup
		var good atomic.Int32
		for i := range 100 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if set := w.route("+1"); set.Source == trunkgroup.RoutesLive && len(set.Routes) == 1 {
					good.Add(1)
				}
			})
		}
		wg.Wait()
		if good.Load() != 100 || w.count() != 1 {
			t.Errorf("%d answers, asked %d times", good.Load(), w.count())
		}
	})
}

// An answer that is good for one call only is given to one call only.
func TestC6_AnswersThatAreNotKeptAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
			time.Sleep(100 * time.Millisecond)
			_, _ = io.WriteString(rw, `{"routes":[{"carrier_id":"`+string('a'+n.Add(1))+`","gateway_group":"g"}],"cache_ttl_secs":0}`)
		}, nil)
		var mu sync.Mutex
		seen := map[string]int{}
		all := func() {
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					set := w.route("+1")
					mu.Lock()
					seen[set.Routes[0].CarrierID]++
					mu.Unlock()
				})
			}
			wg.Wait()
		}
		begin := time.Now()
		all()
		if len(seen) != 10 || time.Since(begin) != 200*time.Millisecond {
			t.Errorf("%v after %s", seen, time.Since(begin))
		}
		begin = time.Now()
		all() // now it is known, and nobody waits for another one's answer
		if len(seen) != 20 || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("%v after %s", seen, time.Since(begin))
		}
	})
}

func TestMaxPendingIsABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(s *trunkgroup.DecisionSpec) {
			s.MaxPending, s.BreakAfter = 3, 100
		})
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() { w.route("+1" + string('0'+rune(i))) })
		}
		synctest.Wait()
		begin := time.Now()
		if set := w.route("+19"); !isFallback(set) || !has(set.Why, "max_pending") || time.Since(begin) != 0 {
			t.Errorf("%+v after %s", set, time.Since(begin))
		}
		wg.Wait()
		if s := w.status(); s.Results[Busy] != 1 || s.Results[TimedOut] != 3 || s.Pending != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A server that is down costs the first calls their wait, and no call after that; when
// it is back, one call finds out.
func TestBreakerLeavesADeadServerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		down.Store(true)
		w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
			if down.Load() {
				<-r.Context().Done()
				return
			}
			_, _ = io.WriteString(rw, oneRoute)
		}, func(s *trunkgroup.DecisionSpec) { s.BreakAfter, s.BreakFor = 3, trunkgroup.Duration(10*time.Second) })
		turns := func() int { w.mu.Lock(); defer w.mu.Unlock(); return w.turns }
		before := turns()
		for i, want := range []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second, 0, 0} {
			begin := time.Now()
			if set := w.route("+1"); !isFallback(set) || time.Since(begin) != want {
				t.Errorf("call %d: %+v after %s", i, set, time.Since(begin))
			}
		}
		s := w.status()
		if !s.Away || s.Breaker.String() != "open" || s.Results[Broken] != 2 || !has(s.Why, "no answer within 2s") || turns() != before+1 || s.Until.IsZero() || s.Since.IsZero() {
			t.Errorf("%+v, %d turns", s, turns()-before)
		}
		down.Store(false)
		time.Sleep(10 * time.Second)
		if set := w.route("+1"); set.Source != trunkgroup.RoutesLive {
			t.Errorf("%+v", set)
		}
		if s := w.status(); s.Away || s.Breaker.String() != "closed" || turns() != before+2 || s.Why != "" {
			t.Errorf("%+v, %d turns", s, turns()-before)
		}
	})
}

// A server that refuses single questions works: it is not left alone for that, but it
// is said.
func TestClientErrorsDoNotBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, http.NotFound, nil)
		for range 10 {
			w.route("+1")
		}
		if s := w.status(); s.Breaker.String() != "closed" || w.count() != 10 || !s.Away {
			t.Errorf("%+v, asked %d times", s, w.count())
		}
		wrong := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) }, nil)
		for range 10 {
			wrong.route("+1")
		}
		if s := wrong.status(); s.Breaker.String() != "open" || wrong.count() != 5 {
			t.Errorf("%+v, asked %d times", s, wrong.count())
		}
	})
}

func TestS094_AuthorizationIsSentVerbatimAndSaidNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) }, func(s *trunkgroup.DecisionSpec) {
			s.AuthHeader, s.URL = "Bearer ${LCR_TOKEN}", "http://lcr.example/route?token=${LCR_TOKEN}"
		})
		set := w.route("+1")
		w.mu.Lock()
		h := w.headers[0]
		w.mu.Unlock()
		if h.Get("Authorization") != "Bearer s3cret" || h.Get("Content-Type") != "application/json" || h.Get("X-Idempotency-Key") != "" {
			t.Errorf("%v", h)
		}
		_ = w.net.Close()
		for _, s := range []*trunkgroup.RouteSet{set, w.route("+2"), w.route("+3")} {
			if has(s.Why, "s3cret") {
				t.Errorf("a secret in %q", s.Why)
			}
		}
		missing := newWorld(t, body(oneRoute), func(s *trunkgroup.DecisionSpec) { s.AuthHeader = "Bearer ${NONE}" })
		if set := missing.route("+1"); !isFallback(set) || !has(set.Why, "there is no variable NONE") || missing.status().Results[Misconfigured] != 1 {
			t.Errorf("%+v", set)
		}
	})
}

// A connection is used again, and one that the server has closed meanwhile costs no
// call its decision.
func TestConnectionsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(`{"routes":[{"carrier_id":"a","gateway_group":"g"}],"cache_ttl_secs":0}`), nil)
		for range 10 {
			w.route("+1")
		}
		if w.net.dials != 1 {
			t.Errorf("%d connections for 10 questions", w.net.dials)
		}
		time.Sleep(time.Minute) // beyond the idle time of the server
		if set := w.route("+1"); set.Source != trunkgroup.RoutesLive || w.net.dials != 2 {
			t.Errorf("%+v after %d connections", set, w.net.dials)
		}
	})
}

// What the server says changes: calls follow when what is kept is over.
func TestAnswersThatChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(rw, `{"routes":[{"carrier_id":"c`+string('0'+n.Add(1))+`","gateway_group":"g"}],"cache_ttl_secs":10}`)
		}, nil)
		for i := range 5 {
			for range 3 {
				if set := w.route("+1"); set.Routes[0].CarrierID != "c"+string('1'+rune(i)) {
					t.Fatalf("%+v", set)
				}
			}
			time.Sleep(10 * time.Second)
		}
	})
}
