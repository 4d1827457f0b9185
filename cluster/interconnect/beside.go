package interconnect

import (
	"errors"
	"net"
	"time"
)

// besidesPerBeat is how many datagrams go to each peer in two heartbeats. They are
// denser than these so that eight lost in a row still fit into the patience.
const besidesPerBeat = 5

// beside is what a peer's datagrams need. Guarded by peer.mu.
type beside struct {
	out     session // signs what goes to the peer
	to      net.Addr
	seq     uint64
	sent    [pingSlots]time.Time // when number n%pingSlots left
	in      session              // checks what comes from the peer
	got     uint64               // highest number received
	gotAt   time.Time
	arrived time.Time // when anything of the peer came last by datagram
	echoed  uint64    // highest number of ours that an echo measured
}

// listenBeside reads the datagrams of all peers until the socket is closed.
func (i *Interconnect) listenBeside() {
	buf := make([]byte, 256)
	for {
		n, _, err := i.cfg.Packets.ReadFrom(buf)
		switch {
		case err == nil:
			i.takeDatagram(buf[:n], time.Now())
		case i.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default:
			// What ICMP told of an earlier packet, mostly. It must not spin.
			select {
			case <-i.ctx.Done():
				return
			case <-time.After(minBackOff):
			}
		}
	}
}

// takeDatagram gives one datagram to the peer whose session it names.
func (i *Interconnect) takeDatagram(b []byte, now time.Time) {
	d, ok := parseDatagram(b)
	if ok {
		i.mu.Lock()
		p := i.sessions[d.session]
		i.mu.Unlock()
		ok = p != nil && p.heardBeside(b, d, now)
	}
	if !ok {
		i.count.strange.Add(1)
	}
}

// heardBeside takes a datagram; false when it is not of the peer, or old.
func (p *peer) heardBeside(b []byte, d datagram, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.beside
	if d.session != s.in.id || !s.in.genuine(b) || d.seq <= s.got {
		return false
	}
	s.got, s.gotAt, s.arrived = d.seq, now, now
	p.detector.HeardBeside(now, d.age)
	if sent := s.sent[d.echo%pingSlots]; d.echo > s.echoed && d.echo <= s.seq && d.echo+pingSlots > s.seq && !sent.IsZero() {
		s.echoed = d.echo
		if rtt := now.Sub(sent) - d.held; rtt >= 0 {
			p.detector.Measured(now, rtt)
		}
	}
	return true
}

// talkBeside sends a datagram to every peer that is up, again and again.
func (i *Interconnect) talkBeside() {
	tick := time.NewTicker(2 * i.cfg.Heartbeat / besidesPerBeat)
	defer tick.Stop()
	buf := make([]byte, 0, 128)
	for {
		select {
		case <-i.ctx.Done():
			return
		case <-tick.C:
		}
		for _, p := range *i.peers.Load() {
			b, to := p.nextDatagram(buf[:0], time.Now())
			if to == nil {
				continue
			}
			// Whatever is wrong with it, the streams speak as well.
			_, _ = i.cfg.Packets.WriteTo(b, to)
			i.count.beside.Add(1)
		}
	}
}

// nextDatagram makes the next datagram to the peer; no address when it has none.
func (p *peer) nextDatagram(dst []byte, now time.Time) ([]byte, net.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.beside
	if s.to == nil {
		return nil, nil
	}
	s.seq++
	s.sent[s.seq%pingSlots] = now
	d := datagram{seq: s.seq, age: p.age(now), echo: s.got}
	if s.got > 0 {
		d.held = now.Sub(s.gotAt)
	}
	if since := now.Sub(s.arrived); !s.arrived.IsZero() && since < d.age {
		d.age = since
	}
	return d.append(dst, &s.out), s.to
}

// openBeside begins the datagrams that go beside a stream of this node's own.
func (p *peer) openBeside(s *stream) {
	if p.i.cfg.Packets == nil {
		return
	}
	out, frame := newSession(p.i.keys())
	p.mu.Lock()
	p.beside.out, p.beside.to, p.beside.seq, p.beside.echoed = out, udpAddr(s.conn), 0, 0
	p.beside.sent = [pingSlots]time.Time{}
	p.mu.Unlock()
	s.urge(kindSession, frame)
}

// closeBeside ends them with the stream.
func (p *peer) closeBeside() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beside.to = nil
}

// announced takes the session that the peer named on its stream. It holds until
// the peer names another one.
func (p *peer) announced(frame []byte) {
	in, ok := openSession(p.i.keys(), frame)
	if !ok || p.i.cfg.Packets == nil {
		return
	}
	p.mu.Lock()
	old := p.beside.in.id
	p.beside.in, p.beside.got, p.beside.gotAt = in, 0, time.Time{}
	p.mu.Unlock()
	p.i.mu.Lock()
	defer p.i.mu.Unlock()
	if p.i.sessions[old] == p {
		delete(p.i.sessions, old)
	}
	p.i.sessions[in.id] = p
}

// lastHeard is when anything of the peer came last, by stream or datagram; the caller
// holds mu.
func (p *peer) lastHeard() time.Time {
	if p.beside.arrived.After(p.arrived) {
		return p.beside.arrived
	}
	return p.arrived
}

// urge queues a frame ahead of the others and of the heartbeats.
func (s *stream) urge(kind byte, payload []byte) {
	s.mu.Lock()
	if !s.closed {
		s.urgent = appendFrame(s.urgent, kind, payload)
	}
	s.mu.Unlock()
	s.poke()
}
