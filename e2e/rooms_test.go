//go:build e2e

package e2e

import (
	"crypto/md5"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/peer"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

const (
	roomsUser   = "rooms"
	roomsNumber = "+12145550690"
	// roomsServer and those behind it are the conference servers, roomsCaller the
	// customer's other PBX, which calls them by their address.
	roomsServer = 33
	roomsCaller = 36
)

// roomsGroups is the part of the document about three conference servers that
// register under one address.
func roomsGroups() string {
	domain := domainOf(roomsUser)
	return fmt.Sprintf(`
  - name: rooms-in
    role: origination-customer
    customer: rooms
    numbers: [%q]
    timers: {b_timer: 2s}
    distribution: {method: least-sessions, session_affinity_header: X-Room-Id}
    credentials: [{username: %s, realm: %s, ha1_md5: %x}]
    members: [{id: servers, registration: {aor: "sip:%s@%s", min_expires: 10s, nat_expires: 2m}}]
  - name: rooms-out
    role: termination-customer
    customer: rooms
    sources: [{ip: <pbx-dallas.%d>}]
    route_plan: all
`, roomsNumber, roomsUser, domain, md5.Sum([]byte(roomsUser+":"+domain+":"+registeredPassword)), roomsUser, domain, roomsCaller)
}

// TestR11_RoomsStayTogether: three SIPp register under one address of record, at
// three nodes of both sites. All calls of a room reach one of them, through every
// node, by the number and by the address, with calls to other rooms in between.
func TestR11_RoomsStayTogether(t *testing.T) {
	w := theWorld(t)
	nodes := []*tandem.Node{w.Node(lab.Dallas1), w.Node(lab.Dallas2), w.Node(lab.Ashburn1)}
	places := []lab.Place{lab.PBXDallas, lab.PBXDallas, lab.PBXAshburn}
	var servers []*peer.SIPp
	for i, n := range nodes {
		local := netip.AddrPortFrom(lab.Host4(places[i], roomsServer+i), 5060)
		s, err := peer.StartRegistered(peer.Run{Lab: theLab(t), Place: places[i], Local: local}, accountOf(roomsUser, n), 100*time.Second, answers())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Kill)
		servers = append(servers, s)
	}
	eventually(t, time.Minute, "three servers at every node", func() error {
		for _, n := range nodes {
			by, err := registrationsOf(n)
			if err != nil {
				return err
			}
			if got := len(by[roomsUser]); got != 3 {
				return fmt.Errorf("%s knows of %d", n.Name, got)
			}
		}
		return nil
	})
	uri := "sip:" + roomsUser + "@" + domainOf(roomsUser)
	for room := range 4 {
		header := fmt.Sprintf("X-Room-Id: e2e-%d", room)
		for i := range nodes {
			n := nodes[(room+i)%len(nodes)]
			call(t, fromPSTN(n, roomsNumber, peer.Caller("room", peer.InviteWith(header), peer.Answered(1), peer.Bye(2))))
		}
		r := peer.Run{
			Place: lab.PBXDallas, Local: netip.AddrPortFrom(lab.Host4(lab.PBXDallas, roomsCaller), 0), Remote: nodes[0].UDP(), Number: roomsUser,
			Scenario: peer.Caller("by-address", peer.InviteTo(uri, header), peer.Answered(1), peer.Bye(2)),
		}
		if record := recordOf(t, nodes[0], callID(t, call(t, r))); record.EgressGroup != "rooms-in" || record.Called != uri || record.Direction != "inbound" {
			t.Errorf("record %+v", record)
		}
		has := 0
		for i, s := range servers {
			n := 0
			for _, m := range messages(t, s) {
				if !m.Sent && m.Method() == "INVITE" && m.Header("X-Room-Id") == fmt.Sprintf("e2e-%d", room) {
					n++
				}
			}
			if n > 0 {
				has++
				t.Logf("room %d is at server %d: %d calls", room, i, n)
			}
			if n != 0 && n < len(nodes)+1 {
				t.Errorf("server %d has %d of the %d calls of room %d", i, n, len(nodes)+1, room)
			}
		}
		if has != 1 {
			t.Errorf("room %d is at %d servers", room, has)
		}
	}
}
