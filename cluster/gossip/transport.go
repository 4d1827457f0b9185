package gossip

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/tandem-sbc/tandem/cluster/dialmap"
)

// transport carries memberlist's packets and streams over sockets that were
// opened before, and applies the dial map to all that it sends and dials.
type transport struct {
	packets   net.PacketConn
	listener  net.Listener
	advertise *net.TCPAddr
	via       dialmap.Map
	dial      func(ctx context.Context, address string) (net.Conn, error)

	packetCh chan *memberlist.Packet
	streamCh chan net.Conn
	ctx      context.Context // ends with Shutdown
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

func newTransport(cfg *Config, advertise *net.TCPAddr) *transport {
	t := &transport{
		packets: cfg.Packets, listener: cfg.Streams, advertise: advertise, via: cfg.DialMap, dial: cfg.Dial,
		packetCh: make(chan *memberlist.Packet, 64),
		streamCh: make(chan net.Conn),
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t
}

func (t *transport) start() {
	t.wg.Go(t.readPackets)
	t.wg.Go(t.acceptStreams)
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (t *transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return t.advertise.IP, t.advertise.Port, nil
}

// WriteTo implements memberlist.Transport.
func (t *transport) WriteTo(b []byte, address string) (time.Time, error) {
	to, err := net.ResolveUDPAddr("udp", t.via.Via(address))
	if err != nil {
		return time.Time{}, fmt.Errorf("gossip: send to %s: %w", address, err)
	}
	_, err = t.packets.WriteTo(b, to)
	return time.Now(), err
}

// WriteToAddress implements memberlist.NodeAwareTransport.
func (t *transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, a.Addr)
}

// PacketCh implements memberlist.Transport.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packetCh }

// StreamCh implements memberlist.Transport.
func (t *transport) StreamCh() <-chan net.Conn { return t.streamCh }

// DialTimeout implements memberlist.Transport. Shutdown ends a dial at once.
func (t *transport) DialTimeout(address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	return t.dial(ctx, t.via.Via(address))
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout(a.Addr, timeout)
}

// Shutdown implements memberlist.Transport.
func (t *transport) Shutdown() error {
	t.cancel()
	err := t.packets.Close()
	if e := t.listener.Close(); err == nil {
		err = e
	}
	t.wg.Wait()
	return err
}

// maxPacket is larger than any packet that memberlist sends.
const maxPacket = 64 << 10

func (t *transport) readPackets() {
	buf := make([]byte, maxPacket)
	for {
		n, from, err := t.packets.ReadFrom(buf)
		if err != nil {
			if t.pause(err) {
				continue
			}
			return
		}
		p := &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: from, Timestamp: time.Now()}
		if n == 0 {
			continue
		}
		select {
		case t.packetCh <- p:
		case <-t.ctx.Done():
			return
		}
	}
}

func (t *transport) acceptStreams() {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			if t.pause(err) {
				continue
			}
			return
		}
		select {
		case t.streamCh <- conn:
		case <-t.ctx.Done():
			// Nobody will read it; an error of closing tells nothing.
			_ = conn.Close()
			return
		}
	}
}

// pause waits a little after an error of a socket, so that a lasting one costs
// nothing; false means that the transport was shut down.
func (t *transport) pause(error) bool {
	select {
	case <-t.ctx.Done():
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}

// advertised resolves the address that the others are told.
func advertised(address string) (*net.TCPAddr, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("gossip: advertise %s: %w", address, err)
	}
	if a.IP == nil || a.IP.IsUnspecified() || a.Port == 0 {
		return nil, fmt.Errorf("gossip: advertise %s: peers cannot reach that; name an address and a port", address)
	}
	if ip4 := a.IP.To4(); ip4 != nil {
		a.IP = ip4
	}
	return a, nil
}

// place spells an address as members are compared.
func place(ip net.IP, port uint16) string {
	if ip4 := ip.To4(); ip4 != nil {
		ip = ip4
	}
	return net.JoinHostPort(ip.String(), strconv.Itoa(int(port)))
}
