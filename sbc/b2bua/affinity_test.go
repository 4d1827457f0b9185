package b2bua

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sessions"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// counted are the real tables behind the interface, as sbc has them; memories of
// several nodes may be one.
type counted struct {
	*sessions.Table
	*sessions.Memory
}

func (c counted) Enter(m *trunkgroup.Member, b *trunkgroup.Binding) Seat {
	if s := c.Table.Enter(m, b); s != nil {
		return s
	}
	return nil
}

// roomWorld is a node whose conference group keeps rooms together.
func roomWorld(t testing.TB, node, site string, memory *sessions.Memory, list ...*trunkgroup.Binding) (*world, *sessions.Table) {
	t.Helper()
	doc := aorDocument()
	doc.TrunkGroups[3].Distribution = trunkgroup.DistributionSpec{Method: trunkgroup.LoadBalance, SessionAffinityHeader: "X-Room-Id"}
	w := newWorldOf(t, node, site, doc)
	table := sessions.NewTable()
	table.Publish(w.table)
	w.view.Registry, w.view.Sessions = bindings{confAOR: list}, table
	w.s.cfg.Sessions = counted{table, memory}
	return w, table
}

var roomAddrs = []string{"198.51.100.201:5060", "198.51.100.202:5060", "198.51.100.203:5060"}

func rooms(site string) (list []*trunkgroup.Binding) {
	for i, addr := range roomAddrs {
		list = append(list, conference(site, fmt.Sprint(i), addr))
	}
	return list
}

// callRoom places a call with a room number and returns who got the INVITE.
func (w *world) callRoom(n int, room string) (addr string, b *sip.Message) {
	w.t.Helper()
	call := invite{called: "+13035550100", callID: fmt.Sprintf("call-%d", n), branch: fmt.Sprintf("z9hG4bKroom%d", n), body: offer}
	if room != "" {
		call.lines = "x-room-ID: " + room + "\r\n"
	}
	w.from(carrierAddr, call.String())
	for _, addr := range roomAddrs {
		if b := w.find(addr, "INVITE"); b != nil {
			return addr, b
		}
	}
	w.t.Fatalf("nobody got the call; sent:\n%s", w.trace())
	return "", nil
}

func (w *world) answer(addr string, b *sip.Message) (ok *sip.Message) {
	w.t.Helper()
	w.from(addr, reply(b, 200, "callee", answerSDP, "Contact: <sip:conf@"+addr+">\r\n"))
	ok = w.take(carrierAddr, "SIP/2.0 200")
	w.take(addr, "ACK")
	w.from(carrierAddr, ackFor(ok, "z9hG4bKack"+string(b.CallID()), ""))
	return ok
}

// a call counts from its INVITE until it is over, at whoever has it.
func TestR08_SeatsFollowTheCall(t *testing.T) {
	list := rooms("dallas")
	w, table := roomWorld(t, "dal-1", "dallas", sessions.NewMemory(), list...)
	m := w.table.MatchAOR(confAOR)
	at := func() (n [3]int) {
		for i := range list {
			n[i] = table.Sessions(m, list[i])
		}
		return n
	}
	addr, b := w.callRoom(1, "")
	if addr != roomAddrs[0] || at() != [3]int{1, 0, 0} {
		t.Fatalf("while it is set up: %s, %v", addr, at())
	}
	w.from(addr, reply(b, 503, "x", ""))
	w.take(addr, "ACK")
	b = w.take(roomAddrs[1], "INVITE")
	if n := at(); n[1] != 1 {
		t.Errorf("at the next one: %v", n)
	}
	ok := w.answer(roomAddrs[1], b)
	w.advance(40 * time.Second)
	if at() != [3]int{0, 1, 0} {
		t.Errorf("while it is up: %v", at())
	}
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.from(roomAddrs[1], reply(w.take(roomAddrs[1], "BYE"), 200, "callee", ""))
	if at() != [3]int{} {
		t.Errorf("when it is over: %v", at())
	}
	for i := range 2 {
		w.callRoom(10+i, "")
	}
	w.from(carrierAddr, strings.Replace(invite{called: "+13035550100", callID: "call-10", branch: "z9hG4bKroom10"}.String(), "INVITE", "CANCEL", 2))
	w.advance(time.Minute)
	w.advance(time.Minute)
	if at() != [3]int{} {
		t.Errorf("after a CANCEL and a silence: %v", at())
	}
}

// calls with one value go to one far end, however turns and
// counts stand, and another group's same value is another one.
func TestR11_R12_R23_RoomsStayTogether(t *testing.T) {
	memory := sessions.NewMemory()
	w, _ := roomWorld(t, "dal-1", "dallas", memory, rooms("dallas")...)
	first := map[string]string{}
	for n := range 60 {
		room := fmt.Sprint(n % 6)
		addr, b := w.callRoom(n, room)
		if first[room] == "" {
			first[room] = addr
		}
		if addr != first[room] {
			t.Fatalf("room %s is at %s and at %s", room, first[room], addr)
		}
		w.answer(addr, b)
	}
	spread := map[string]int{}
	for _, addr := range first {
		spread[addr]++
	}
	if len(spread) != 3 || spread[roomAddrs[0]] != 2 || spread[roomAddrs[1]] != 2 {
		t.Errorf("R-12: six rooms on three servers by least sessions: %v", spread)
	}
	if got := memory.Remembered(w.now, "acme-rooms\x000"); got == "" {
		t.Error("R-23: not under its group's name")
	}
	// without the header the group's own method, turns here.
	a, _ := w.callRoom(100, "")
	b, _ := w.callRoom(101, "")
	if a == b {
		t.Error("two calls without a value went to the same")
	}
}

// the memory of one node is that of all.
func TestR14_AnotherNodeKnows(t *testing.T) {
	memory := sessions.NewMemory()
	one, _ := roomWorld(t, "dal-1", "dallas", memory, rooms("dallas")...)
	two, _ := roomWorld(t, "dal-2", "dallas", memory, rooms("dallas")...)
	for n := range 10 {
		room := fmt.Sprint("r", n)
		a, _ := one.callRoom(n, room)
		if b, _ := two.callRoom(n+100, room); a != b {
			t.Errorf("%s is at %s and at %s", room, a, b)
		}
	}
}

// one that is not there any more, or does not take the call, is replaced
// for the calls to come as well.
func TestR25_RepicksAndRemembersAgain(t *testing.T) {
	list := rooms("dallas")
	w, _ := roomWorld(t, "dal-1", "dallas", sessions.NewMemory(), list...)
	was, b := w.callRoom(1, "7")
	w.answer(was, b)
	var rest []*trunkgroup.Binding
	for _, b := range list {
		if b.Addr != netip.MustParseAddrPort(was) {
			rest = append(rest, b)
		}
	}
	w.view.Registry = bindings{confAOR: rest}
	now, b := w.callRoom(2, "7")
	if now == was {
		t.Fatal("it went to one that is gone")
	}
	w.answer(now, b)
	w.view.Registry = bindings{confAOR: list} // back again
	if got, _ := w.callRoom(3, "7"); got != now {
		t.Errorf("the room moved back to %s from %s", got, now)
	}
	at, b := w.callRoom(4, "8")
	w.from(at, reply(b, 503, "x", ""))
	next, b := w.find2(roomAddrs, "INVITE")
	w.answer(next, b)
	if got, _ := w.callRoom(5, "8"); got != next {
		t.Errorf("the room is at %s, and its call went to %s", next, got)
	}
}

func (w *world) find2(addrs []string, start string) (string, *sip.Message) {
	w.t.Helper()
	for _, addr := range addrs {
		if m := w.find(addr, start); m != nil {
			return addr, m
		}
	}
	w.t.Fatalf("nobody got %s", start)
	return "", nil
}

func TestAffinityHeaderByAnyName(t *testing.T) {
	m, fault := sip.Parse([]byte(strings.Replace(optionsRequest("sip:203.0.113.1", carrierAddr, 1), "Content-Length", "s: hello\r\nx-room-id: 7\r\nX-Room-Id: 8\r\nContent-Length", 1)))
	if fault != nil {
		t.Fatal(fault)
	}
	for name, want := range map[string]string{"Subject": "hello", "subject": "hello", "X-ROOM-ID": "7", "X-Room": "", "Call-ID": "opt"} {
		if got := string(valueOf(m, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// an assignment does not outlive the binding.
func TestR24_ExpiresWithTheBinding(t *testing.T) {
	list := rooms("dallas")
	memory := sessions.NewMemory()
	w, _ := roomWorld(t, "dal-1", "dallas", memory, list...)
	for _, b := range list {
		b.Expires = w.now.Add(90 * time.Second)
	}
	w.callRoom(1, "7")
	if a := <-memory.Queue(); a.TTL != 90*time.Second || !strings.HasPrefix(a.FarEnd, "acme-rooms/conf\x00") {
		t.Errorf("shared %+v", a)
	}
	w.now = w.now.Add(91 * time.Second)
	if got := memory.Remembered(w.now, "acme-rooms\x007"); got != "" {
		t.Errorf("still %q", got)
	}
}

// What is too long is no value, and what nobody counts costs nothing.
func TestAffinityValueIsBounded(t *testing.T) {
	memory := sessions.NewMemory()
	w, _ := roomWorld(t, "dal-1", "dallas", memory, rooms("dallas")...)
	w.callRoom(1, strings.Repeat("x", maxAffinity+1))
	if n, _ := memory.Stats(); n != 0 {
		t.Error("it is remembered")
	}
	w.callRoom(2, strings.Repeat("x", maxAffinity))
	if n, _ := memory.Stats(); n != 1 {
		t.Error("it is not remembered")
	}
}

// R-14 over both sites: the room is at the peer site, so that is asked first; when
// it cannot take the call, a server of this site does and has the room from then on.
func TestR11_ARoomOfThePeerSite(t *testing.T) {
	memory := sessions.NewMemory()
	here, there := conference("dallas", "0", roomAddrs[0]), conference("ashburn", "1", roomAddrs[1])
	p := newTwoSites(t)
	dal, _ := roomWorld(t, "dal-1", "dallas", memory, here, there)
	ash, _ := roomWorld(t, "ash-1", "ashburn", memory, here, there)
	dal.peers, ash.peers, ash.random = p.dal.peers, p.ash.peers, 99
	p.dal, p.ash = dal, ash
	memory.Set("acme-rooms\x007", trunkgroup.FarEnd(dal.table.MatchAOR(confAOR), there), dal.now.Add(time.Hour))
	call := invite{called: "+13035550100", body: offer, lines: "X-Room-Id: 7\r\n"}
	dal.from(carrierAddr, call.String())
	p.exchange()
	dal.none(roomAddrs[0], "INVITE")
	b := ash.take(roomAddrs[1], "INVITE")
	ash.from(roomAddrs[1], reply(b, 200, "x", answerSDP, "Contact: <sip:conf@"+roomAddrs[1]+">\r\n"))
	p.exchange()
	dal.take(carrierAddr, "SIP/2.0 200")
	if r := dal.records; len(r) != 0 {
		t.Fatalf("over: %+v", r[0])
	}

	call.callID, call.branch = "call-2", "z9hG4bKsecond"
	dal.from(carrierAddr, call.String())
	p.exchange()
	b = ash.take(roomAddrs[1], "INVITE")
	ash.from(roomAddrs[1], reply(b, 503, "x", ""))
	p.exchange()
	b = dal.take(roomAddrs[0], "INVITE")
	dal.answer(roomAddrs[0], b)
	if got := memory.Remembered(dal.now, "acme-rooms\x007"); got != "acme-rooms/conf\x000" {
		t.Errorf("the room is at %q", got)
	}

	memory.Set("acme-rooms\x009", "acme-rooms/conf\x001", dal.now.Add(time.Hour))
	dal.peers[0].Fresh = false // nobody there to ask
	call.callID, call.branch, call.lines = "call-3", "z9hG4bKthird", "X-Room-Id: 9\r\n"
	dal.from(carrierAddr, call.String())
	dal.take(roomAddrs[0], "INVITE")
}

// what is inside a dialog goes where the call is, whatever is remembered or
// counted by then.
func TestR02_R15_InDialogStaysWithItsLeg(t *testing.T) {
	memory := sessions.NewMemory()
	w, _ := roomWorld(t, "dal-1", "dallas", memory, rooms("dallas")...)
	addr, b := w.callRoom(1, "7")
	ok := w.answer(addr, b)
	other := roomAddrs[0]
	if addr == other {
		other = roomAddrs[1]
	}
	for i, a := range roomAddrs {
		if a == other {
			memory.Set("acme-rooms\x007", fmt.Sprintf("acme-rooms/conf\x00%d", i), w.now.Add(time.Hour))
		}
	}
	w.from(carrierAddr, inside(ok, "INFO", 2, "X-Room-Id: 7\r\n", ""))
	info := w.take(addr, "INFO")
	w.from(addr, reply(info, 200, "callee", ""))
	w.take(carrierAddr, "SIP/2.0 200")
	w.from(carrierAddr, inside(ok, "BYE", 3, "", ""))
	w.take(addr, "BYE")
	if got, _ := w.callRoom(2, "7"); got != other {
		t.Error("the next call does not go where the memory says")
	}
}

// What an affinity value costs a call whose far end is known already.
func BenchmarkAffinity(b *testing.B) {
	w, _ := roomWorld(b, "dal-1", "dallas", sessions.NewMemory(), rooms("dallas")...)
	m, fault := sip.Parse([]byte(invite{called: "+13035550100", body: offer, lines: "X-Room-Id: 7\r\n"}.String()))
	if fault != nil {
		b.Fatal(fault)
	}
	c := &Call{s: w.s, msg: m}
	g := w.table.Group("acme-rooms")
	cand := trunkgroup.Candidate{Member: g.Members[0], Binding: rooms("dallas")[1]}
	b.ReportAllocs()
	for b.Loop() {
		var d trunkgroup.Draw
		k, _ := c.affinity(g, &d)
		c.remember(k, &cand)
	}
}
