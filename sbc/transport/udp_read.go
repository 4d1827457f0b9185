package transport

import (
	"bytes"
	"errors"
	"net"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	readBatch    = 32    // datagrams per system call
	datagramSize = 65535 // no datagram is longer
	keepAlive    = 4     // datagrams up to this length are keep-alives: CRLFCRLF, CRLF, NULs, nothing
)

// read is the reader goroutine of a socket. It ends when the socket closes.
func (u *udpSocket) read() {
	messages := make([]ipv4.Message, readBatch)
	for i := range messages {
		messages[i].Buffers = [][]byte{make([]byte, datagramSize)}
	}
	packets := make([]Packet, 0, readBatch)
	for {
		n, err := u.io.ReadBatch(messages, 0)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// An ICMP error for an earlier datagram surfaces here once (IP_RECVERR); details are in the error queue.
			failures := u.drainErrors()
			u.report(failures)
			if len(failures) == 0 && !u.set.pause(time.Millisecond) {
				return
			}
			continue
		}
		packets = u.receive(messages[:n], packets[:0])
		if len(packets) > 0 {
			u.set.handler.Packets(packets)
			clear(packets)
		}
	}
}

// receive parses datagrams and appends the good ones. The copy has the exact size, since calls keep messages.
func (u *udpSocket) receive(messages []ipv4.Message, packets []Packet) []Packet {
	c := &u.set.counters
	for i := range messages {
		d := &messages[i]
		if d.N <= keepAlive {
			c.Pings.Add(1)
			continue
		}
		c.Received[trunkgroup.UDP].Add(1)
		m, fault := sip.Parse(bytes.Clone(d.Buffers[0][:d.N]))
		p := Packet{Message: m, Source: addrPort(d.Addr), Local: u.local, Transport: trunkgroup.UDP, Listener: u.listener}
		if fault == nil {
			packets = append(packets, p)
			continue
		}
		c.fault(fault.Code, false)
		if fault.Code != 0 {
			p.Message = fault.Message
			u.set.handler.Reject(p, fault)
		}
	}
	return packets
}
