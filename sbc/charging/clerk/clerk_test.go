package clerk

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/diameter"
	"github.com/tandem-sbc/tandem/sbc/charging/ocs"
	"github.com/tandem-sbc/tandem/sbc/charging/peers"
	"github.com/tandem-sbc/tandem/sbc/charging/spool"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a clerk with its peers and two charging servers, in virtual time.
type rig struct {
	t       *testing.T
	dir     string
	servers map[string]*ocs.Server
	mu      sync.Mutex
	away    map[string]bool
	peers   *peers.Set
	spool   *spool.Spool
	clerk   *Clerk
	notices []Notice
}

var errAway = errors.New("connection refused")

func newRig(t *testing.T) *rig {
	r := &rig{t: t, dir: t.TempDir(), away: map[string]bool{}, servers: map[string]*ocs.Server{
		"ocs-1": ocs.New("ocs-1.example", "example"), "ocs-2": ocs.New("ocs-2.example", "example"),
	}}
	r.start(1)
	return r
}

func (r *rig) start(boot uint32) {
	var err error
	if r.spool, err = spool.Open(r.dir, 0); err != nil {
		r.t.Fatal(err)
	}
	var clerk *Clerk
	r.peers = peers.New(peers.Config{
		Identity: diameter.Identity{Host: "dal-1.example", Realm: "example", State: boot}, Timeout: 2 * time.Second,
		Peers: []peers.Peer{{Name: "a", Address: "ocs-1", Realm: "example"}, {Name: "b", Address: "ocs-2", Realm: "example"}},
		Dial: func(_ context.Context, address string) (net.Conn, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.away[address] {
				return nil, errAway
			}
			ours, theirs := net.Pipe()
			r.servers[address].Serve(theirs)
			return ours, nil
		},
		Asked: func(session string, abort bool) bool { return clerk.Asked(session, abort) },
	})
	clerk = New(Config{Host: "dal-1.example", Boot: boot, Timeout: 2 * time.Second, Peers: r.peers, Spool: r.spool, IDs: r.peers.ID})
	r.clerk = clerk
	r.peers.Start()
	r.clerk.Start()
	time.Sleep(100 * time.Millisecond)
}

// stop ends the node; kill leaves what it had as a kill -9 does.
func (r *rig) stop() {
	r.clerk.Stop(2 * time.Second)
	r.halt()
}

func (r *rig) kill() {
	r.clerk.Stop(0)
	r.halt()
}

func (r *rig) halt() {
	r.peers.Stop()
	if err := r.spool.Close(); err != nil {
		r.t.Error(err)
	}
	for _, s := range r.servers {
		s.Cut()
		s.Wait()
	}
}

func (r *rig) cut(name string, away bool) {
	r.mu.Lock()
	r.away[name] = away
	r.mu.Unlock()
	if away {
		r.servers[name].Cut()
	}
}

// call is one call of a rig.
type call struct {
	r      *rig
	ticket Ticket
	facts  charging.Call
}

func rules(change ...func(*trunkgroup.ChargingSpec)) *trunkgroup.Charging {
	spec := &trunkgroup.ChargingSpec{Online: true, Offline: true, RatingGroup: 1}
	for _, fn := range change {
		fn(spec)
	}
	table, err := trunkgroup.Compile(&trunkgroup.Document{
		Cluster: "test", Sites: []trunkgroup.SiteSpec{{Name: "dallas"}},
		TrunkGroups: []trunkgroup.GroupSpec{{
			Name: "acme-out", Role: trunkgroup.TerminationCustomer, Charging: spec, Sources: []trunkgroup.SourceSpec{{IP: "198.51.100.10"}},
		}},
	}, trunkgroup.Version{Cluster: "test", Generation: 1, Revision: 1})
	if err != nil {
		panic(err)
	}
	return table.Group("acme-out").Charging
}

func (r *rig) begin(rules *trunkgroup.Charging, id string) *call {
	c := &call{r: r, facts: charging.Call{
		ID: id, SIPCallID: id + "@pbx", Caller: "+12145550100", Called: "+13105550123", Group: "acme-out", Outbound: true,
		Ingress: "acme-out", Begin: time.Now(),
	}}
	c.ticket = r.clerk.Begin(rules, c.facts, func(n Notice) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, n)
	})
	return c
}

func (c *call) answer() {
	c.facts.Answered, c.facts.Egress, c.facts.Carrier, c.facts.Code = time.Now(), "carrier-b", "voxbeam", 200
	c.r.clerk.Connect(c.ticket.Key, c.facts)
}

func (c *call) end() {
	c.facts.Ended = time.Now()
	c.r.clerk.End(c.ticket.Key, c.facts)
}

func (r *rig) heard() []Notice {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.notices
	r.notices = nil
	return list
}

func (r *rig) want(kinds ...charging.ActionKind) []Notice {
	r.t.Helper()
	got := r.heard()
	if len(got) != len(kinds) {
		r.t.Fatalf("got notices %+v, want kinds %v", got, kinds)
	}
	for i, n := range got {
		if n.Kind != kinds[i] {
			r.t.Fatalf("got notices %+v, want kinds %v", got, kinds)
		}
	}
	return got
}

// waitTeardown waits until a call is told to end.
func (r *rig) waitTeardown(limit time.Duration) {
	r.t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, n := range r.heard() {
			if n.Kind == charging.Teardown {
				return
			}
		}
	}
	r.t.Fatal("no teardown")
}

// TestS102_PrepaidCallEndsWithItsBalance: reserve, ask again, 4012, the end; Ro, Rf and the call's
// own seconds agree.
func TestS102_PrepaidCallEndsWithItsBalance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.stop()
		s := r.servers["ocs-1"]
		s.Credit("acme-out", 75)
		c := r.begin(rules(), "c1")
		r.want(charging.Grant)
		if got := s.Balance("acme-out"); got != 45 {
			t.Fatalf("balance %d after the reservation, want 45", got)
		}
		time.Sleep(4 * time.Second) // it rings: nothing is used
		c.answer()
		r.waitTeardown(2 * time.Minute)
		c.end()
		time.Sleep(time.Second)
		synctest.Wait()
		billsec := charging.Seconds(c.facts.Answered, c.facts.Ended)
		if billsec != 75 {
			t.Errorf("the call lasted %d s, want 75: no more and no less than its balance", billsec)
		}
		if got := s.Used(c.ticket.Online); got != billsec {
			t.Errorf("Ro says %d s, the call lasted %d", got, billsec)
		}
		if got := s.Balance("acme-out"); got != 0 || s.Open() != 0 {
			t.Errorf("balance %d with %d sessions open, want none of either", got, s.Open())
		}
		records := s.Records()
		if len(records) != 2 || records[0].Kind != charging.Start || records[1].Kind != charging.Stop || records[1].Used != billsec {
			t.Fatalf("Rf tells %+v, want a start and a stop of %d s", records, billsec)
		}
		for _, rec := range records {
			if rec.Call.Egress != "carrier-b" || rec.Call.Carrier != "voxbeam" || rec.Call.Ingress != "acme-out" {
				t.Errorf("S-101: trunks of %s are %+v", rec.Kind, rec.Call)
			}
		}
	})
}

// TestS102_NoCredit: a call without credit is refused before anything is dialled.
func TestS102_NoCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.stop()
		c := r.begin(rules(), "c1")
		n := r.want(charging.Refuse)[0]
		if n.Why != charging.WhyCredit || n.Result != charging.ResultNoCredit {
			t.Fatalf("refused for %v with %d, want credit, 4012", n.Why, n.Result)
		}
		c.facts.Code = 402
		c.end()
		synctest.Wait()
		records := r.servers["ocs-1"].Records()
		if len(records) != 1 || records[0].Kind != charging.Event || records[0].Call.Code != 402 {
			t.Fatalf("Rf tells %+v, want one event with 402", records)
		}
	})
}

// TestS102_FailureHandling: what becomes of a call when nobody answers (RFC 8506 5.7).
func TestS102_FailureHandling(t *testing.T) {
	for _, c := range []struct {
		name  string
		on    trunkgroup.ChargingFailure
		away  int
		quiet bool
		want  charging.ActionKind
		after time.Duration
	}{
		{"retry, first away", trunkgroup.ChargingRetry, 1, false, charging.Grant, 0},
		{"retry, first silent", trunkgroup.ChargingRetry, 0, true, charging.Grant, 2 * time.Second},
		{"retry, both away", trunkgroup.ChargingRetry, 2, false, charging.Refuse, 0},
		{"terminate, first silent", trunkgroup.ChargingTerminate, 0, true, charging.Refuse, 2 * time.Second},
		{"continue, both away", trunkgroup.ChargingContinue, 2, false, charging.Grant, 0},
		{"continue, first silent", trunkgroup.ChargingContinue, 0, true, charging.Grant, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				defer r.stop()
				for i, name := range []string{"ocs-1", "ocs-2"} {
					r.servers[name].Credit("acme-out", 100)
					if i < c.away {
						r.cut(name, true)
					}
				}
				if c.quiet {
					r.servers["ocs-1"].Play(func(*charging.Request) ocs.Reply { return ocs.Reply{Silent: true} })
				}
				synctest.Wait()
				began := time.Now()
				x := r.begin(rules(func(s *trunkgroup.ChargingSpec) { s.OnFailure, s.Offline = c.on, false }), "c1")
				time.Sleep(c.after)
				r.want(c.want)
				if took := time.Since(began); took > x.ticket.Wait {
					t.Errorf("the call waited %s, longer than the %s it was told", took, x.ticket.Wait)
				}
				x.end()
				for _, s := range r.servers {
					s.Play(nil)
				}
			})
		})
	}
}

// TestS102_KeptRecordsOutliveOutageAndKill: what could not be told is told later, once, also by the
// next process.
func TestS102_KeptRecordsOutliveOutageAndKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer func() { r.stop() }()
		s := r.servers["ocs-1"]
		s.Credit("acme-out", 1000)
		ended := r.begin(rules(), "ended")
		up := r.begin(rules(), "up")
		r.want(charging.Grant, charging.Grant)
		ended.answer()
		up.answer()
		time.Sleep(20 * time.Second)
		r.cut("ocs-1", true)
		r.cut("ocs-2", true)
		time.Sleep(5 * time.Second)
		ended.end() // nobody is there to be told
		time.Sleep(10 * time.Second)
		alive := time.Now()
		r.kill()
		r.cut("ocs-1", false)
		r.notices = nil
		r.start(2)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got, want := s.Used(ended.ticket.Online), charging.Seconds(ended.facts.Answered, ended.facts.Ended); got != want {
			t.Errorf("Ro says %d s of the call that had ended, want %d", got, want)
		}
		got, want := s.Used(up.ticket.Online), charging.Seconds(up.facts.Answered, alive)
		if got < want-1 || got > want {
			t.Errorf("Ro says %d s of the call that died with its node, want %d, the last sign of life a second ago at most", got, want)
		}
		if s.Open() != 0 {
			t.Errorf("%d sessions are open", s.Open())
		}
		stops := map[string]int64{}
		for _, rec := range s.Records() {
			if rec.Kind == charging.Stop {
				if _, twice := stops[rec.Call.ID]; twice {
					t.Errorf("two stops of %s", rec.Call.ID)
				}
				stops[rec.Call.ID] = rec.Used
			}
		}
		if len(stops) != 2 || stops["up"] != got {
			t.Errorf("stops %v, want one of each call, and Rf as Ro", stops)
		}
		if kept := len(r.spool.Items()); kept != 0 {
			t.Errorf("%d records are still kept", kept)
		}
	})
}

// TestS102_ServerAsks: a RAR makes the call ask at once, an ASR ends it.
func TestS102_ServerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.stop()
		s := r.servers["ocs-1"]
		s.Credit("acme-out", 1000)
		c := r.begin(rules(), "c1")
		r.want(charging.Grant)
		c.answer()
		time.Sleep(3 * time.Second)
		s.Ask(c.ticket.Online, false)
		time.Sleep(time.Second)
		synctest.Wait()
		if last := s.Requests()[len(s.Requests())-1]; last.Kind != charging.Update || last.Report != charging.ReportForced || last.Used != 3 {
			t.Errorf("after a RAR the server was sent %+v, want an update that says so, with 3 s", last)
		}
		s.Ask(c.ticket.Online, true)
		r.waitTeardown(time.Second)
		c.end()
	})
}
