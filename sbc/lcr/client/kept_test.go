package client

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestS092_AnswersOfOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(oneRoute), nil)
		q := w.query("+1")
		key, now := q.key().String(), time.Now()
		for _, text := range []string{"", "{", `{"routes":[{}]}`} {
			if w.client.Hear(key, []byte(text), now, now.Add(time.Minute)) || w.client.Known(q) != nil {
				t.Errorf("%q is an answer", text)
			}
		}
		if w.client.Hear("nonsense", []byte(oneRoute), now, now.Add(time.Minute)) {
			t.Error("no key")
		}
		if !w.client.Hear(key, []byte(oneRoute), now, now.Add(time.Minute)) || w.client.Known(q) == nil || w.count() != 0 {
			t.Error("an answer of another node is not used")
		}
		if set := w.client.Known(q); set.Source != trunkgroup.RoutesCached {
			t.Errorf("%+v", set)
		}
		w.client.Forget(key)
		if w.client.Known(q) != nil {
			t.Error("what the others have forgotten is known")
		}
		// Hosts of it are looked up before a call gets it.
		w.names.addrs["gw.example"] = addr("192.0.2.7:5060")
		w.client.Hear(key, []byte(`{"routes":[{"carrier_id":"a","next_hop":"gw.example"}]}`), now, now.Add(time.Minute))
		synctest.Wait()
		if set := w.client.Known(q); set == nil || len(set.Routes[0].Hops) != 1 {
			t.Errorf("%+v", set)
		}
	})
}

func TestFlushForgetsWhatWasAskedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(rw, oneRoute)
		}, nil)
		w.route("+1")
		if n := w.client.Flush("other", time.Now()); n != 0 || w.client.Known(w.query("+1")) == nil {
			t.Error("another plan's flush")
		}
		go w.route("+2") // under way
		time.Sleep(500 * time.Millisecond)
		if n := w.client.Flush("lcr", time.Now()); n != 1 || w.client.Known(w.query("+1")) != nil {
			t.Errorf("%d forgotten", n)
		}
		time.Sleep(time.Second)
		if w.client.Known(w.query("+2")) != nil {
			t.Error("what was asked before the flush is known after it")
		}
		w.route("+1")
		if w.client.Known(w.query("+1")) == nil {
			t.Error("what was asked after the flush is not kept")
		}
		if n := w.client.Flush("", time.Now().Add(time.Second)); n != 1 {
			t.Errorf("%d forgotten of all", n)
		}
	})
}

// Another server in the same plan is asked anew.
func TestAnotherServerIsAskedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(oneRoute), nil)
		w.route("+1")
		w.plan = planOf(t, func(s *trunkgroup.DecisionSpec) { s.URL = "http://other.example/route" })
		w.client.Use([]*trunkgroup.RoutePlan{w.plan})
		if w.client.Known(w.query("+1")) != nil {
			t.Error("what another server has said counts")
		}
	})
}

func TestStopEndsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, nil)
		got := make(chan *trunkgroup.RouteSet, 2)
		w.client.Ask(w.query("+1"), func(set *trunkgroup.RouteSet) { got <- set })
		synctest.Wait()
		begin := time.Now()
		w.client.Stop()
		if set := <-got; !has(set.Why, "the node stops") || time.Since(begin) != 0 {
			t.Errorf("%+v after %s", set, time.Since(begin))
		}
		w.client.Ask(w.query("+1"), func(set *trunkgroup.RouteSet) { got <- set })
		if set := <-got; !set.Absent {
			t.Errorf("%+v", set)
		}
	})
}

func TestInquireLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(`{"routes":[{"carrier_id":"a","gateway_group":"g","caller_id_presentation":"odd"}]}`), nil)
		in := w.client.Inquire(t.Context(), w.query("+1"))
		if in.Result != Routed || in.Set.Source != trunkgroup.RoutesLive || in.TTL != 300*time.Second || len(in.Notes) != 1 {
			t.Errorf("%+v", in)
		}
		if s := w.status(); s.Results[Routed] != 0 || s.Misses != 0 || w.client.Cache().Entries != 0 {
			t.Errorf("%+v", s)
		}
		_ = w.net.Close()
		w.client.wire.CloseIdleConnections()
		if in := w.client.Inquire(t.Context(), w.query("+1")); !in.Result.failed() || !isFallback(in.Set) || w.status().Fallbacks != 0 {
			t.Errorf("%+v", in)
		}
	})
}

// A call that asks again, for what it was told has failed, gets an answer of its own
// (S-045).
func TestS045_AQuestionOfOneCallIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(oneRoute), nil)
		w.route("+1")
		q := w.query("+1")
		q.Alone = true
		if w.client.Known(q) != nil {
			t.Error("what is known is no answer")
		}
		got := make(chan *trunkgroup.RouteSet, 1)
		w.client.Ask(q, func(set *trunkgroup.RouteSet) { got <- set })
		if set := <-got; set.Source != trunkgroup.RoutesLive || w.count() != 2 {
			t.Errorf("%+v", set)
		}
		synctest.Wait()
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.sharings) != 1 {
			t.Errorf("%d answers were shared", len(w.sharings))
		}
	})
}
