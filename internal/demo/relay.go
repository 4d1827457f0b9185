package demo

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// relay is the WAN: what one site sends to an address of another passes here.
// Cutting it drops datagrams, resets connections and refuses new ones.
type relay struct {
	cut  atomic.Bool
	mu   sync.Mutex
	open map[net.Conn]struct{}
	shut []func() error
	wg   sync.WaitGroup
	dead bool
}

func newRelay() *relay { return &relay{open: map[net.Conn]struct{}{}} }

// tcp relays connections to target and returns the address to dial instead.
func (r *relay) tcp(target string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("relay: %w", err)
	}
	r.serve(l, target)
	return l.Addr().String(), nil
}

// both relays TCP and UDP to target under one port, as gossip needs it.
func (r *relay) both(target string) (string, error) {
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", fmt.Errorf("relay: %w", err)
		}
		p, err := net.ListenPacket("udp", l.Addr().String())
		if err != nil {
			_ = l.Close()
			continue // the port is taken for UDP: another one
		}
		r.serve(l, target)
		if err := r.packets(p, target); err != nil {
			return "", err
		}
		return l.Addr().String(), nil
	}
	return "", errors.New("relay: no port is free for both TCP and UDP")
}

func (r *relay) serve(l net.Listener, target string) {
	r.shut = append(r.shut, l.Close)
	r.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.join(c, target) })
		}
	})
}

func (r *relay) join(a net.Conn, target string) {
	if r.cut.Load() || !r.track(a) {
		_ = a.Close()
		return
	}
	defer r.untrack(a)
	b, err := net.DialTimeout("tcp", target, 2*time.Second)
	if err != nil {
		return
	}
	if !r.track(b) {
		_ = b.Close()
		return
	}
	defer r.untrack(b)
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(b, a)
		_ = b.Close()
		close(done)
	}()
	_, _ = io.Copy(a, b)
	_ = a.Close()
	<-done
}

// packets relays datagrams one way: answers go to the address that the sender
// advertises, by the relay of the other direction.
func (r *relay) packets(p net.PacketConn, target string) error {
	to, err := net.ResolveUDPAddr("udp", target)
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	r.shut = append(r.shut, p.Close)
	r.wg.Go(func() {
		buf := make([]byte, 65536)
		for {
			n, _, err := p.ReadFrom(buf)
			if err != nil {
				return
			}
			if !r.cut.Load() {
				_, _ = p.WriteTo(buf[:n], to) // lost like any datagram
			}
		}
	})
	return nil
}

func (r *relay) track(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead {
		return false
	}
	r.open[c] = struct{}{}
	return true
}

func (r *relay) untrack(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	delete(r.open, c)
	r.mu.Unlock()
}

// setCut cuts or heals the WAN.
func (r *relay) setCut(cut bool) {
	r.cut.Store(cut)
	if cut {
		r.drop()
	}
}

func (r *relay) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		_ = c.Close()
	}
}

func (r *relay) close() {
	r.mu.Lock()
	r.dead = true
	r.mu.Unlock()
	for _, shut := range r.shut {
		_ = shut()
	}
	r.drop()
	r.wg.Wait()
}
