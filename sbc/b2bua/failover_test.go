package b2bua

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// failovers are those that a node has counted, in order.
func (w *world) failovers() string {
	var list []string
	for _, e := range w.events {
		if e.Kind == EventFailover {
			list = append(list, fmt.Sprintf("%s %s %s>%s %s>%s %s", e.Result, e.Direction, e.Group.Name, e.Next.Name, e.From, e.To, e.Reason))
		}
	}
	return strings.Join(list, "; ")
}

// delay is what the first ring or answer says of the failover before it.
func (w *world) delay() string {
	for _, e := range w.events {
		if e.Kind == EventPDD {
			return fmt.Sprintf("%s %s %s", e.Result, e.To, e.Wait)
		}
	}
	return "none"
}

func (w *world) fails(t *testing.T, failovers, delay string) {
	t.Helper()
	if got := w.failovers(); got != failovers {
		t.Errorf("failovers %q, want %q", got, failovers)
	}
	if got := w.delay(); got != delay {
		t.Errorf("delay %q, want %q", got, delay)
	}
}

func TestFailoverToTheNextMember(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.fails(t, "", "none")
	w.advance(time.Second)
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 503, "x", ""))
	w.fails(t, "member inbound acme-in>acme-in dallas>dallas reroute_cause", "none")
	w.from(pbx2Addr, reply(w.take(pbx2Addr, "INVITE"), 180, "x", ""))
	w.fails(t, "member inbound acme-in>acme-in dallas>dallas reroute_cause", "member dallas 1s")
}

func TestNoFailoverWithoutNeed(t *testing.T) {
	w := newWorld(t)
	setDown(w, "acme-in/dal-1") // known to be away: the call loses nothing
	w.from(carrierAddr, invite{body: offer}.String())
	w.from(pbx2Addr, reply(w.take(pbx2Addr, "INVITE"), 180, "x", ""))
	w.fails(t, "", "  0s")
}

func TestFailoverAfterSilenceAndToThePeerSite(t *testing.T) {
	p := newTwoSites(t)
	p.dal.from(carrierAddr, invite{body: offer}.String())
	p.advance(8*time.Second + 50*time.Millisecond) // two b_timers
	p.ash.from(ashPBX, reply(p.ash.take(ashPBX, "INVITE"), 180, "x", ""))
	p.exchange()
	p.dal.fails(t, "member inbound acme-in>acme-in dallas>dallas no_response; site inbound acme-in>acme-in dallas>ashburn no_response", "site ashburn 8s")
	p.ash.fails(t, "", "  0s")
}

// Why a call goes to the peer site at once: nobody is active, or an operator said so, or both.
func TestFailoverToThePeerSiteAtOnce(t *testing.T) {
	for reason, operator := range map[string]bool{"no_active_member": false, "drain": true} {
		p := newTwoSites(t)
		v := trunkgroup.NewView(p.dal.table)
		first, second := p.dal.table.Member("acme-in/dal-1").Index, p.dal.table.Member("acme-in/dal-2").Index
		v.States[first] = trunkgroup.Draining
		if v.States[second] = trunkgroup.Disabled; !operator {
			v.States[second], v.Addrs[second] = trunkgroup.Active, nil
		}
		p.dal.view = v
		p.dal.from(carrierAddr, invite{body: offer}.String())
		p.exchange()
		p.ash.take(ashPBX, "INVITE")
		if got, want := p.dal.failovers(), "site inbound acme-in>acme-in dallas>ashburn "+reason; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Where nobody is asked, nothing has failed over.
func TestNoFailoverToASiteWithoutNodes(t *testing.T) {
	w := newWorld(t)
	setDown(w, "acme-in/dal-1", "acme-in/dal-2")
	w.from(carrierAddr, invite{body: offer}.String())
	w.take(carrierAddr, "SIP/2.0 503")
	w.fails(t, "", "none")
}

func TestTransactionsAreTimed(t *testing.T) {
	w := newWorld(t)
	w.from(carrierAddr, invite{body: offer}.String())
	w.advance(time.Second)
	w.from(pbx1Addr, reply(w.take(pbx1Addr, "INVITE"), 486, "x", ""))
	w.take(carrierAddr, "SIP/2.0 486")
	var got []string
	for _, e := range w.events {
		if e.Kind == EventTransaction {
			got = append(got, fmt.Sprintf("%s %s %s", e.Result, e.Method, e.Wait))
		}
	}
	if text := strings.Join(got, ", "); text != "client INVITE 1s, server INVITE 1s" {
		t.Error(text)
	}
}
