//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// solo is one node on the loopback of this machine, with carriers around it. Its customer
// calls from 127.0.0.1.
type solo struct {
	*survivors
	node *survivor
	net  string // the first three parts of its addresses
}

func newSolo(t testing.TB) *solo {
	t.Helper()
	s := &solo{
		survivors: &survivors{t: t, dir: t.TempDir(), nodes: map[string]*survivor{}},
		net:       fmt.Sprintf("127.%d.%d", 99+survivorNets.Add(1), 1+os.Getpid()%250),
	}
	s.node = &survivor{name: "dal-1", site: "dallas", ip: s.net + ".1", dir: filepath.Join(s.dir, "dal-1")}
	s.nodes["dal-1"] = s.node
	return s
}

// gateway is a carrier's gateway.
func (s *solo) gateway(name string, b sim.Behaviour, tap sim.Tap) *sim.FarEnd {
	s.t.Helper()
	far, err := sim.StartFarEnd(sim.FarEndConfig{
		CalleeConfig: sim.CalleeConfig{Name: name, Role: sim.Carrier, Behaviour: b, Tap: tap},
		Listen:       []sim.Listen{{Addr: netip.MustParseAddrPort(s.net + ".20:0")}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = far.Close() })
	return far
}

// decisions is a decision server.
func (s *solo) decisions(answer http.HandlerFunc) string {
	server := httptest.NewServer(answer)
	s.t.Cleanup(server.Close)
	return server.URL + "/route"
}

// begin starts the node with a document, and lines of its own in its file.
func (s *solo) begin(document, nodeFile string) {
	s.t.Helper()
	s.write("cluster.key", strings.Repeat("cd", 32))
	s.write("cluster.yaml", document)
	s.write("dal-1.yaml", s.nodeFile(s.node)+nodeFile)
	s.start(s.node)
	s.ready(s.node)
}

// call places a call of the customer and returns what the caller saw.
func (s *solo) call(number string, hold time.Duration) *sim.CallRecord {
	s.t.Helper()
	load, err := sim.NewLoad(sim.LoadConfig{
		CallerConfig: sim.CallerConfig{Nodes: []sim.Node{{Addr: netip.MustParseAddrPort(s.node.ip + ":5060")}}, Stay: true},
		Rate:         100, Calls: 1, Hold: hold, From: []string{callerNumber}, To: []string{number}, KeepAll: true,
		Local: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	defer load.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r, err := load.Run(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	if len(r.Calls) != 1 {
		s.t.Fatalf("%d calls", len(r.Calls))
	}
	return &r.Calls[0]
}

// callerNumber is whom the customer's calls are from.
const callerNumber = "+19725550199"

// routedLine is what the tests of routes and charging read of a record.
type routedLine struct {
	CallID      string `json:"call_id"`
	SIPCallID   string `json:"sip_call_id"`
	Code        int    `json:"sip_code"`
	Cause       string `json:"hangup_cause"`
	Seconds     int    `json:"billsec"`
	CarrierID   string `json:"carrier_id"`
	EgressGroup string `json:"egress_group"`
	Source      string `json:"route_source"`

	Cost      float64           `json:"cost"`
	Fields    map[string]string `json:"fields"`
	RoSession string            `json:"ro_session_id"`
	RfSession string            `json:"rf_session_id"`
	Attempts  []struct {
		CarrierID    string `json:"carrier_id"`
		Dialed       bool   `json:"dialed"`
		Code         int    `json:"code"`
		EgressCallID string `json:"egress_call_id"`
	} `json:"attempts"`
}

// line waits for the record of a call.
func (s *solo) line(r *sim.CallRecord) (line routedLine) {
	s.t.Helper()
	eventually(s.t, 20*time.Second, "the record", func() error {
		for _, l := range linesOf[routedLine](s.t, filepath.Join(s.node.dir, "cdr.jsonl")) {
			if l.SIPCallID == r.CallID {
				line = l
				return nil
			}
		}
		return fmt.Errorf("none of %s", r.CallID)
	})
	return line
}
