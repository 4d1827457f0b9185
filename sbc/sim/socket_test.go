package sim

import (
	"context"
	"crypto/tls"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

const patience = 20 * time.Second

var (
	anyPort4 = netip.MustParseAddrPort("127.0.0.1:0")
	anyPort6 = netip.MustParseAddrPort("[::1]:0")
	quick    = Timers{T1: 50 * time.Millisecond}
)

func startFarEnd(t *testing.T, b Behaviour, listen ...Listen) *FarEnd {
	t.Helper()
	f, err := StartFarEnd(FarEndConfig{CalleeConfig: CalleeConfig{Name: "far", Behaviour: b, Timers: quick}, Listen: listen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func startLoad(t *testing.T, cfg LoadConfig) *Load {
	t.Helper()
	if cfg.Timers == (Timers{}) {
		cfg.Timers = quick
	}
	l, err := NewLoad(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func runLoad(t *testing.T, cfg LoadConfig) *Report {
	t.Helper()
	l := startLoad(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := l.Run(ctx)
	if err != nil {
		t.Fatalf("%v: %+v", err, r.Counts)
	}
	return r
}

// settled polls until the far end has no leg left.
func settled(t *testing.T, f *FarEnd) Account {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if a := f.Account(); a.Ringing+a.Up == 0 {
			return a
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("legs left: %+v", f.Account())
		}
	}
}

func TestCallsOverEachTransport(t *testing.T) {
	server, client, err := NewCertificate("127.0.0.1", "::1")
	if err != nil {
		t.Fatal(err)
	}
	for _, transport := range []trunkgroup.Transport{trunkgroup.UDP, trunkgroup.TCP, trunkgroup.TLS} {
		for _, addr := range []netip.AddrPort{anyPort4, anyPort6} {
			t.Run(transport.String()+"/"+addr.Addr().String(), func(t *testing.T) {
				far := startFarEnd(t, Answers(0, time.Millisecond), Listen{Transport: transport, Addr: addr, TLS: serverTLS(transport, server)})
				r := runLoad(t, LoadConfig{
					CallerConfig: CallerConfig{Nodes: []Node{{Addr: far.Addr(0), Transport: transport, ServerName: addr.Addr().String()}}},
					To:           []string{"+12145550100..+12145550199"}, Rate: 500, Calls: 200, Hold: 20 * time.Millisecond, TLS: client,
				})
				a := settled(t, far)
				if r.Counts.Results[Completed] != 200 || a.Answered != 200 || a.Acked != 200 || a.Byes != 200 || a.CallIDs != 200 {
					t.Errorf("caller %+v\nfar end %+v\nfailures %+v", r.Counts, a, r.Failures)
				}
				if a.FaultCount+r.FaultsN != 0 {
					t.Errorf("faults %+v %+v", a.Faults, r.Faults)
				}
				if r.Counts.Members["far"] != 200 {
					t.Errorf("members %v", r.Counts.Members)
				}
			})
		}
	}
}

func serverTLS(transport trunkgroup.Transport, c *tls.Config) *tls.Config {
	if transport == trunkgroup.TLS {
		return c
	}
	return nil
}

func TestRequestsOfTheCalleeOverTCP(t *testing.T) {
	far := startFarEnd(t, Answers(0, 0).Reinvites(time.Millisecond).Updates(time.Millisecond).HangsUp(time.Millisecond),
		Listen{Transport: trunkgroup.TCP, Addr: anyPort4})
	r := runLoad(t, LoadConfig{
		CallerConfig: CallerConfig{Nodes: []Node{{Addr: far.Addr(0), Transport: trunkgroup.TCP}}},
		Rate:         200, Calls: 50, Hold: time.Minute,
	})
	if a := settled(t, far); a.ByesSent != 50 || a.FaultCount+r.FaultsN != 0 || r.Counts.Results[HungUp] != 50 {
		t.Errorf("far end %+v\ncaller %+v %+v", a, r.Counts, r.Faults)
	}
}

func TestCancelAtRandomMomentsOnTheWire(t *testing.T) {
	far := startFarEnd(t, Answers(10*time.Millisecond, 30*time.Millisecond), Listen{Addr: anyPort4})
	r := runLoad(t, LoadConfig{
		CallerConfig: CallerConfig{Nodes: []Node{{Addr: far.Addr(0)}}},
		Rate:         500, Calls: 500, Cancel: 1, Within: 80 * time.Millisecond,
	})
	a := settled(t, far)
	n := r.Counts
	if n.Results[Cancelled]+n.Results[Completed]+n.Results[Raced] != 500 || n.Results[Cancelled] == 0 {
		t.Errorf("seed %d: %+v", r.Config.Seed, n)
	}
	if a.FaultCount+r.FaultsN+n.Answers2 != 0 || a.Answered != n.Answered {
		t.Errorf("seed %d: far end %+v, caller %+v %+v", r.Config.Seed, a, n, r.Faults)
	}
}

func TestRefusedPortGoesToTheNextNode(t *testing.T) {
	for _, transport := range []trunkgroup.Transport{trunkgroup.UDP, trunkgroup.TCP} {
		t.Run(transport.String(), func(t *testing.T) {
			dead := startFarEnd(t, AnswersAtOnce(), Listen{Transport: transport, Addr: anyPort4})
			if err := dead.Kill(); err != nil {
				t.Fatal(err)
			}
			far := startFarEnd(t, AnswersAtOnce(), Listen{Transport: transport, Addr: anyPort4})
			r := runLoad(t, LoadConfig{
				CallerConfig: CallerConfig{Nodes: []Node{
					{Name: "dead", Addr: dead.Addr(0), Transport: transport}, {Name: "live", Addr: far.Addr(0), Transport: transport},
				}},
				Rate: 200, Calls: 20, KeepAll: true,
			})
			if r.Counts.Results[Completed] != 20 || r.Counts.Nodes["live"] != 20 {
				t.Fatalf("%+v %+v", r.Counts, r.Failures)
			}
			for _, c := range r.Calls {
				if len(c.Tries) != 2 || c.Tries[0].Cause != "refused" || c.Setup > 2*time.Second {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

func TestKilledFarEndLosesItsCallsAndComesBack(t *testing.T) {
	far := startFarEnd(t, AnswersAtOnce(), Listen{Addr: anyPort4})
	l := startLoad(t, LoadConfig{CallerConfig: CallerConfig{Nodes: []Node{{Name: "sbc", Addr: far.Addr(0)}}}})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call := l.Dial(Placement{To: "+12145550100", Hold: -1})
	if err := call.Answered(ctx); err != nil {
		t.Fatal(err)
	}
	if err := far.Kill(); err != nil {
		t.Fatal(err)
	}
	call.HangUp()
	r, err := call.Done(ctx)
	if err != nil || r.Result != Broken || r.Node != "sbc" {
		t.Fatalf("%+v %v", r, err)
	}
	if a := far.Account(); a.Lost != 1 || a.Up != 0 || far.Alive() {
		t.Errorf("%+v", a)
	}
	if err := far.Revive(); err != nil {
		t.Fatal(err)
	}
	call = l.Dial(Placement{To: "+12145550100"})
	if r, err = call.Done(ctx); err != nil || r.Result != Completed {
		t.Fatalf("%+v %v", r, err)
	}
}

func TestStepByStepCall(t *testing.T) {
	far := startFarEnd(t, RingsForEver(0), Listen{Addr: anyPort4}, Listen{Transport: trunkgroup.TCP, Addr: anyPort4})
	if far.Addr(0) != far.Addr(1) {
		t.Errorf("UDP at %s, TCP at %s: want one port", far.Addr(0), far.Addr(1))
	}
	l := startLoad(t, LoadConfig{CallerConfig: CallerConfig{Nodes: []Node{{Addr: far.Addr(0)}}}})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	call := l.Dial(Placement{To: "+12145550100", Hold: -1})
	if code, err := call.Ringing(ctx); code != 180 || err != nil {
		t.Fatal(code, err)
	}
	call.HangUp()
	r, err := call.Done(ctx)
	if err != nil || r.Result != Cancelled || !slices.Equal(call.Codes(), []int{180, 487}) {
		t.Fatalf("%+v %v %v", r, call.Codes(), err)
	}
	far.SetBehaviour(Busy())
	call = l.Dial(Placement{To: "+12145550100"})
	if err := call.Answered(ctx); err == nil {
		t.Error("a busy far end answered")
	}
}

func TestInterruptedRunLeavesNoCallBehind(t *testing.T) {
	far := startFarEnd(t, Answers(10*time.Millisecond, time.Second), Listen{Addr: anyPort4})
	l := startLoad(t, LoadConfig{
		CallerConfig: CallerConfig{Nodes: []Node{{Addr: far.Addr(0)}}}, Rate: 200, Hold: time.Hour,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan *Report)
	go func() {
		r, _ := l.Run(ctx)
		done <- r
	}()
	for deadline := time.Now().Add(patience); l.Counts().Up < 20 && time.Now().Before(deadline); {
		far.Account()
	}
	cancel()
	if r := <-done; r.Left != 0 || r.Counts.Failed != 0 || r.Counts.Up != 0 {
		t.Errorf("%+v", r.Counts)
	}
	if a := settled(t, far); a.FaultCount != 0 {
		t.Errorf("%+v", a.Faults)
	}
}
