package wire

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// Invite is one INVITE transaction seen in a capture.
type Invite struct {
	// From and To are the ends of the packet or stream that carried it first.
	From, To netip.AddrPort
	// URI is the Request-URI; CallID, Branch and CSeq are those of the message,
	// Branch of its topmost Via.
	URI, CallID, Branch, CSeq string
}

// Invites returns the INVITE transactions in a pcap stream of raw IP packets,
// in order of first sight. Repeats of one transaction between the same two
// hosts count once.
func Invites(r io.Reader) ([]Invite, error) {
	var order []flow
	streams := map[flow]*stream{}
	var found collector
	err := packets(r, func(ip []byte) {
		s, ok := parse(ip)
		if !ok {
			return
		}
		if s.flow.proto == protoUDP {
			found.scan(s.flow, s.data)
			return
		}
		t := streams[s.flow]
		if t == nil {
			t = &stream{}
			streams[s.flow], order = t, append(order, s.flow)
		}
		t.add(s)
	})
	if err != nil {
		return nil, fmt.Errorf("read capture: %w", err)
	}
	for _, f := range order {
		for _, run := range streams[f].runs() {
			found.scan(f, run)
		}
	}
	return found.list, nil
}

// collector gathers distinct transactions.
type collector struct {
	seen map[string]bool
	list []Invite
}

// scan finds every INVITE request in b, whatever stands around it.
func (c *collector) scan(f flow, b []byte) {
	for {
		at := bytes.Index(b, []byte("INVITE sip"))
		if at < 0 {
			return
		}
		b = b[at:]
		if inv, ok := request(b); ok {
			inv.From, inv.To = f.from, f.to
			c.add(inv)
		}
		b = b[1:]
	}
}

func (c *collector) add(inv Invite) {
	key := strings.Join([]string{
		inv.From.Addr().String(), inv.To.Addr().String(), inv.CallID, inv.Branch, inv.CSeq,
	}, " ")
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[key] {
		c.seen[key] = true
		c.list = append(c.list, inv)
	}
}

// request reads the INVITE that b begins with; not ok when its header block is
// not whole or the text only resembles a request.
func request(b []byte) (Invite, bool) {
	head, _, whole := bytes.Cut(b, []byte("\r\n\r\n"))
	if !whole {
		return Invite{}, false
	}
	lines := strings.Split(string(head), "\r\n")
	parts := strings.Split(lines[0], " ")
	if len(parts) != 3 || parts[2] != "SIP/2.0" {
		return Invite{}, false
	}
	inv := Invite{URI: parts[1]}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "call-id", "i":
			inv.CallID = value
		case "cseq":
			inv.CSeq = value
		case "via", "v":
			if inv.Branch == "" {
				_, rest, _ := strings.Cut(value, "branch=")
				inv.Branch, _, _ = strings.Cut(rest, ";")
			}
		}
	}
	return inv, inv.CallID != "" && inv.CSeq != ""
}
