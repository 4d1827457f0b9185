package wan

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/lab/netns"
)

// maxPacket is the largest packet that a TUN device hands over.
const maxPacket = 65535

// Direction chooses one or both directions of a Link.
type Direction uint8

// The directions of a Link between the ends a and b.
const (
	AToB Direction = 1 << iota
	BToA
	Both = AToB | BToA
)

// Link is a running emulated WAN link between two namespaces.
type Link struct {
	files [2]*os.File // a's device, b's device
	pipes [2]*pipe    // a to b, b to a
	stop  chan struct{}
	tasks sync.WaitGroup

	capture sync.Mutex
	tap     *Capture
}

// Open makes the link's two devices and begins to carry packets shaped by s.
// seed makes loss and jitter repeatable for a given sequence of packets.
func Open(a, b netns.End, s Shape, seed uint64) (*Link, error) {
	l := &Link{
		pipes: [2]*pipe{newPipe(s, seed), newPipe(s, seed+1)},
		stop:  make(chan struct{}),
	}
	for i, e := range []netns.End{a, b} {
		f, err := openTUN(e)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("WAN link end %s: %w", e.Namespace.Name, err), l.Close())
		}
		l.files[i] = f
	}
	for i, p := range l.pipes {
		from, to := l.files[i], l.files[1-i]
		l.tasks.Go(func() { l.read(from, p) })
		l.tasks.Go(func() {
			p.drain(l.stop, func(b []byte) {
				// A device that is down loses the packet, as a cut cable does.
				_, _ = to.Write(b)
			})
		})
	}
	return l, nil
}

// read moves packets from a device into a pipe until the device is closed.
func (l *Link) read(from *os.File, p *pipe) {
	buf := make([]byte, maxPacket)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		now := time.Now()
		p.put(now, buf[:n])
		l.capture.Lock()
		if l.tap != nil && !p.shape.Load().Down {
			l.tap.packet(now, buf[:n])
		}
		l.capture.Unlock()
	}
}

// Shape changes the chosen directions while packets flow.
func (l *Link) Shape(d Direction, change func(*Shape)) {
	for i, p := range l.pipes {
		if d&(1<<i) != 0 {
			s := *p.shape.Load()
			change(&s)
			p.shape.Store(&s)
		}
	}
}

// Cut loses every packet of the chosen directions from now on; Heal ends it.
func (l *Link) Cut(d Direction) { l.Shape(d, func(s *Shape) { s.Down = true }) }

// Heal ends a Cut.
func (l *Link) Heal(d Direction) { l.Shape(d, func(s *Shape) { s.Down = false }) }

// Capture begins to write every packet that enters the link, both directions,
// to w in pcap format, until Stop. One capture runs at a time: a second one
// ends the first. Packets that a cut swallows are not in it; packets that Loss
// takes are.
func (l *Link) Capture(w io.Writer) (*Capture, error) {
	c, err := newCapture(l, w)
	if err != nil {
		return nil, err
	}
	l.capture.Lock()
	defer l.capture.Unlock()
	l.tap = c
	return c, nil
}

// Close ends the link and removes its devices.
func (l *Link) Close() error {
	close(l.stop)
	var err error
	for _, f := range l.files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	l.tasks.Wait()
	return err
}
