package sim

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Loop is the fast path of load tests: one thread that owns the UDP sockets of far
// ends and callers and serves them all, without the runtime's poller, timers and
// hand-overs between threads. Those cost several times what a call costs here, and
// they blur delays that are measured in microseconds.
//
// A Loop carries UDP only and reports no ICMP errors. It needs a processor (P) of
// its own: GOMAXPROCS of 2 or more.
type Loop struct {
	mu    sync.Mutex // held while cores run, free while the thread waits
	ends  []*endpoint
	socks []*loopSocket
	armed time.Time // what the thread waits for; zero = nothing
	wakes int       // event descriptor that ends the wait
	quit  bool
	done  chan struct{}

	packet  transport.Packet // the one that is delivered
	leaving []departure
}

// longestWait bounds one wait, so that the thread never keeps its processor for
// long while others want it.
const longestWait = 5 * time.Millisecond

// NewLoop starts the thread.
func NewLoop() (*Loop, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("loop: eventfd: %w", err)
	}
	l := &Loop{wakes: fd, done: make(chan struct{})}
	go l.run()
	return l, nil
}

// Close ends the thread and closes its sockets.
func (l *Loop) Close() error {
	l.mu.Lock()
	l.quit = true
	l.mu.Unlock()
	l.wake()
	<-l.done
	var errs []error
	for _, s := range l.socks {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, os.NewSyscallError("close", unix.Close(l.wakes)))...)
}

// attach binds the listeners of an endpoint and begins to serve it.
func (l *Loop) attach(e *endpoint, listeners []transport.ListenerConfig) ([]netip.AddrPort, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var addrs []netip.AddrPort
	for i, lc := range listeners {
		if lc.Transport != trunkgroup.UDP {
			return nil, fmt.Errorf("loop: %s: only UDP is served", lc.Transport)
		}
		s, err := openLoopSocket(lc.Addr)
		if err != nil {
			return nil, fmt.Errorf("loop: %s: %w", lc.Addr, err)
		}
		s.end, s.index = e, i
		l.socks = append(l.socks, s)
		addrs = append(addrs, s.addr)
	}
	l.ends = append(l.ends, e)
	l.wake()
	return addrs, nil
}

// detach closes the sockets of an endpoint. The thread does it, since a socket
// stays bound while somebody waits for it.
func (l *Loop) detach(e *endpoint) error {
	l.mu.Lock()
	if l.quit {
		l.mu.Unlock()
		return nil // Close closes them
	}
	leaving := make(chan error, 1)
	l.leaving = append(l.leaving, departure{end: e, done: leaving})
	l.mu.Unlock()
	l.wake()
	select {
	case err := <-leaving:
		return err
	case <-l.done:
		return nil
	}
}

// departure is an endpoint that wants its sockets closed.
type departure struct {
	end  *endpoint
	done chan error
}

// dismiss closes the sockets of those who leave.
func (l *Loop) dismiss() {
	for _, d := range l.leaving {
		var errs []error
		l.socks = slices.DeleteFunc(l.socks, func(s *loopSocket) bool {
			if s.end == d.end {
				errs = append(errs, s.close())
			}
			return s.end == d.end
		})
		l.ends = slices.DeleteFunc(l.ends, func(e *endpoint) bool { return e == d.end })
		d.done <- errors.Join(errs...)
	}
	l.leaving = l.leaving[:0]
}

// send queues one datagram; it runs under the lock.
func (l *Loop) send(e *endpoint, t transport.Target, data []byte) {
	for _, s := range l.socks {
		if s.end == e && (t.Listener == s.index || t.Listener < 0 && s.addr.Addr().Is4() == t.Addr.Addr().Unmap().Is4()) {
			s.queue(t.Addr, data)
			return
		}
	}
}

// flush writes what is queued and ends the wait of the thread when it would last
// too long; it runs under the lock.
func (l *Loop) flush(e *endpoint) {
	for _, s := range l.socks {
		s.flush()
	}
	if next := e.core.Deadline(); !next.IsZero() && (l.armed.IsZero() || next.Before(l.armed)) {
		l.wake()
	}
}

func (l *Loop) wake() {
	one := [8]byte{1}
	_, _ = unix.Write(l.wakes, one[:]) // full means that a wake-up is pending already
}

// run is the thread.
func (l *Loop) run() {
	defer close(l.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // waits end on time, or 50 us late when refused
	var fds []unix.PollFd
	for {
		l.mu.Lock()
		now := time.Now()
		for i := range fds {
			if i > 0 && fds[i].Revents != 0 && l.owns(fds[i].Fd) {
				l.read(now, fds[i].Fd)
			}
		}
		l.dismiss()
		wait := l.expire(now)
		quit := l.quit
		fds = append(fds[:0], unix.PollFd{Fd: int32(l.wakes), Events: unix.POLLIN})
		for _, s := range l.socks {
			fds = append(fds, unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN})
		}
		l.mu.Unlock()
		if quit {
			return
		}
		poll(fds, wait)
		if fds[0].Revents != 0 {
			var count [8]byte
			_, _ = unix.Read(l.wakes, count[:])
		}
	}
}

// expire runs all deadlines, sends what that queued, and returns how long to wait.
func (l *Loop) expire(now time.Time) time.Duration {
	l.armed = time.Time{}
	for _, e := range l.ends {
		if e.core == nil {
			continue // not ready yet
		}
		if next := e.core.Deadline(); reached(next, now) {
			e.core.Expire(now)
		}
		l.armed = earlier(l.armed, e.core.Deadline())
	}
	for _, s := range l.socks {
		s.flush()
	}
	if l.armed.IsZero() {
		return longestWait
	}
	return min(max(time.Until(l.armed), 0), longestWait)
}

func (l *Loop) owns(fd int32) bool {
	for _, s := range l.socks {
		if int32(s.fd) == fd {
			return true
		}
	}
	return false
}

// read takes what one socket has.
func (l *Loop) read(now time.Time, fd int32) {
	for _, s := range l.socks {
		if int32(s.fd) != fd {
			continue
		}
		for n := s.receive(); n > 0; n = s.receive() {
			for i := range n {
				l.deliver(now, s, i)
			}
			if n < loopBatch {
				return
			}
		}
		return
	}
}

func (l *Loop) deliver(now time.Time, s *loopSocket, slot int) {
	data := s.in.data(slot)
	if len(data) <= 4 || s.end.core == nil {
		return // a keep-alive
	}
	m, fault := sip.Parse(bytes.Clone(data))
	if fault != nil {
		s.end.core.Malformed(now, fault)
		return
	}
	l.packet = transport.Packet{
		Message: m, Source: s.in.addr(slot), Local: s.addr, Transport: trunkgroup.UDP, Listener: s.index,
	}
	s.end.core.Receive(now, &l.packet)
}

// poll waits on the thread itself: the runtime is not told, so that it starts no
// other thread in its place.
func poll(fds []unix.PollFd, wait time.Duration) {
	ts := unix.NsecToTimespec(int64(wait))
	_, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if errno == syscall.EINTR {
		for i := range fds {
			fds[i].Revents = 0
		}
	}
}
