package transport

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"time"

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
	in := newDatagrams(u, readBatch, recvBatch)
	memory := make([]byte, readBatch*datagramSize)
	for i := range readBatch {
		in.setBuffer(i, memory[i*datagramSize:(i+1)*datagramSize])
	}
	packets := make([]Packet, 0, readBatch)
	for {
		n, err := in.receive()
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
		u.deliver(in, memory, n, packets[:0])
	}
}

// deliver hands over what one system call gave.
func (u *udpSocket) deliver(in *datagrams, memory []byte, n int, packets []Packet) {
	defer u.set.survive("udp reader")
	var now time.Time
	if u.set.cfg.Door != nil {
		now = time.Now()
	}
	for i := range n {
		packets = u.receive(now, memory[i*datagramSize:][:in.length(i)], in.source(i), packets)
	}
	if len(packets) > 0 {
		u.set.handler.Packets(packets)
		clear(packets)
	}
}

// receive parses a datagram and appends it when it is good. The copy has the exact size, since calls keep messages.
func (u *udpSocket) receive(now time.Time, datagram []byte, source netip.AddrPort, packets []Packet) []Packet {
	c := &u.set.counters
	if len(datagram) <= keepAlive {
		c.Pings.Add(1)
		return packets
	}
	c.Received[trunkgroup.UDP].Add(1)
	if door := u.set.cfg.Door; door != nil && !door.Message(now, u.listener, source, datagram) {
		return packets
	}
	if drop := u.set.cfg.Drop; drop != nil && drop(datagram) {
		return packets
	}
	m, fault := sip.Parse(bytes.Clone(datagram))
	p := Packet{Message: m, Source: source, Local: u.local, Transport: trunkgroup.UDP, Listener: u.listener}
	if fault == nil {
		return append(packets, p)
	}
	c.fault(fault.Code, false)
	if fault.Code != 0 {
		p.Message = fault.Message
		u.set.handler.Reject(p, fault)
	}
	return packets
}
