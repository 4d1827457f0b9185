package client

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// What questions to a server come to that another one has replaced meanwhile says nothing
// of the new one: neither its failures nor its answers.
func TestWhatIsLeftOfAnotherServerSaysNothingOfTheNewOne(t *testing.T) {
	for _, ends := range []string{"fails", "answers"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
				if r.Host == "other.example" {
					rw.WriteHeader(http.StatusInternalServerError)
					return
				}
				if ends == "answers" {
					time.Sleep(time.Second)
					_, _ = rw.Write([]byte(`{"routes":[{"carrier_id":"a","gateway_group":"g"}],"cache_ttl_secs":0}`))
				}
				<-r.Context().Done()
			}, func(s *trunkgroup.DecisionSpec) { s.BreakAfter = 2 })
			got := make(chan *trunkgroup.RouteSet, 4)
			for _, number := range []string{"+1", "+2", "+3"} {
				w.client.Ask(w.query(number), func(set *trunkgroup.RouteSet) { got <- set })
			}
			synctest.Wait()
			w.plan = planOf(t, func(s *trunkgroup.DecisionSpec) { s.URL, s.BreakAfter = "http://other.example/route", 2 })
			w.client.Use([]*trunkgroup.RoutePlan{w.plan})
			if ends == "answers" {
				w.live("+4")
				w.live("+5")
			}
			for range 3 {
				<-got
			}
			s := w.status()
			if ends == "fails" && (s.Breaker != lcr.Closed || s.Away || s.Why != "") {
				t.Errorf("the new server is %s, away %v, for %q, before it was asked", s.Breaker, s.Away, s.Why)
			}
			if ends == "answers" && (s.Breaker != lcr.Open || !s.Away) {
				t.Errorf("the new server is %s, away %v, for what the old one has said", s.Breaker, s.Away)
			}
			if s.Pending != 0 {
				t.Errorf("%d questions are under way", s.Pending)
			}
		})
	}
}

// A server that takes connections and never says a word of TLS, or never takes one, leaves
// nothing behind once nobody waits for it: neither goroutines nor sockets.
func TestConnectionsThatNeverOpenAreGivenUp(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		t.Log(scheme)
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, body(oneRoute), func(s *trunkgroup.DecisionSpec) {
				s.URL, s.BreakFor = scheme+"://lcr.example/route", trunkgroup.Duration(time.Second)
			})
			if scheme == "http" {
				w.net.dial = func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				}
			} else {
				var far []net.Conn
				w.client.cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					far = append(far, there)
					return here, nil
				}
				defer func() {
					for _, c := range far {
						_ = c.Close()
					}
				}()
			}
			synctest.Wait()
			before := runtime.NumGoroutine()
			for range 40 {
				w.live("+1")
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if s := w.status(); s.Results[Routed] != 0 || s.Results[TimedOut] < 10 {
				t.Errorf("%s: %v", scheme, s.Results)
			}
			if n := runtime.NumGoroutine() - before; n > 0 {
				t.Errorf("%s: %d goroutines are left", scheme, n)
			}
		})
	}
}

// frozen is a connection that can stop to carry anything, without a word of it.
type frozen struct {
	net.Conn
	stuck chan struct{} // closed when it stops
	ended chan struct{}
	once  sync.Once
}

func (f *frozen) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	select {
	case <-f.stuck:
		<-f.ended
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (f *frozen) Write(b []byte) (int, error) {
	select {
	case <-f.stuck:
		return len(b), nil
	default:
		return f.Conn.Write(b)
	}
}

func (f *frozen) Close() error {
	f.once.Do(func() { close(f.ended) })
	return f.Conn.Close()
}

// A connection of HTTP/2 that the network has lost is found out, and another one is opened:
// questions do not go into it until TCP gives up, a quarter of an hour later.
func TestLostConnectionsOfHTTP2AreFoundOut(t *testing.T) {
	server := httptest.NewUnstartedServer(nil) // for its certificate
	server.EnableHTTP2 = true
	server.StartTLS()
	server.Close()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, body(strings.Replace(oneRoute, "60", "0", 1)), func(s *trunkgroup.DecisionSpec) {
			s.URL, s.BreakAfter = "https://lcr.example/route", 1000
		})
		pipes := newPipes()
		serving := sync.WaitGroup{}
		far := &http.Server{Handler: body(strings.Replace(oneRoute, "60", "0", 1)), TLSConfig: server.TLS.Clone()}
		serving.Go(func() { _ = far.ServeTLS(pipes, "", "") })
		defer func() {
			w.client.Stop()
			_ = far.Close()
			_ = pipes.Close()
			serving.Wait()
		}()
		w.client.wire.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a test in memory
		stuck := make(chan struct{})
		w.client.cfg.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := pipes.Dial(ctx, "", "")
			return &frozen{Conn: c, stuck: stuck, ended: make(chan struct{})}, err
		}
		if set := w.live("+1"); set.Source != trunkgroup.RoutesLive {
			t.Fatalf("%+v", set)
		}
		close(stuck)
		stuck = make(chan struct{})
		begin := time.Now()
		for w.live("+1").Source != trunkgroup.RoutesLive {
			if time.Since(begin) > 30*time.Second {
				t.Fatalf("no decision for %s", time.Since(begin))
			}
		}
	})
}
