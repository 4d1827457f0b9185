package transport

import (
	"errors"
	"net"
	"net/netip"
	"syscall"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// writeBatch is the number of datagrams that wait for Flush at most.
const writeBatch = 64

// udpQueue holds the datagrams of one batch for one socket.
type udpQueue struct {
	sock     *udpSocket
	out      *datagrams
	n        int
	targets  [writeBatch]netip.AddrPort
	refs     [writeBatch]uint64
	failures []failure
}

// failure is a datagram that did not leave, or one that came back. Failures are reported when the queue is empty again, since
// the handler may send from inside Failed.
type failure struct {
	ref    uint64
	target Target
	err    error
}

func newUDPQueue(sock *udpSocket) *udpQueue {
	return &udpQueue{sock: sock, out: newDatagrams(sock, writeBatch, sendBatch)}
}

// add queues one datagram; a full queue is flushed first.
func (q *udpQueue) add(addr netip.AddrPort, data []byte, ref uint64) {
	if len(data) == 0 {
		return
	}
	if q.n == writeBatch {
		q.flush()
	}
	i := q.n
	q.n++
	q.out.setBuffer(i, data)
	q.out.setTarget(i, addr)
	q.targets[i], q.refs[i] = addr, ref
}

// flush writes what waits, in order, with as few system calls as the kernel allows.
func (q *udpQueue) flush() {
	set := q.sock.set
	sent, retried := 0, -1
	for sent < q.n {
		n, err := q.out.send(sent, q.n)
		if n > 0 && err == nil {
			set.counters.Sent[trunkgroup.UDP].Add(uint64(n))
			if sent += n; sent < q.n { // sendmmsg swallowed the error that stopped it, maybe an ICMP one
				q.failures = append(q.failures, q.sock.drainErrors()...)
			}
			continue
		}
		switch {
		case errors.Is(err, syscall.EAGAIN):
			set.counters.Dropped.Add(1)
			q.failed(sent, ErrDropped)
		case retried != sent && !errors.Is(err, net.ErrClosed):
			// The error may be an ICMP one for an earlier datagram, which the kernel reports to whoever uses the socket next.
			q.failures = append(q.failures, q.sock.drainErrors()...)
			retried = sent
			continue
		default:
			q.failed(sent, err)
		}
		sent++
	}
	q.out.forget(q.n)
	q.n = 0
	if len(q.failures) > 0 {
		failures := q.failures
		q.failures = nil
		q.sock.report(failures)
	}
}

// failed notes that datagram i did not leave.
func (q *udpQueue) failed(i int, err error) {
	if err == nil {
		err = syscall.EIO
	}
	q.sock.set.counters.Failed[trunkgroup.UDP].Add(1)
	q.failures = append(q.failures, failure{q.refs[i], q.sock.target(q.targets[i]), err})
}

// target is where a datagram of this socket went.
func (u *udpSocket) target(addr netip.AddrPort) Target {
	return Target{Transport: trunkgroup.UDP, Addr: addr, Listener: u.listener}
}

// report gives failures to the handler.
func (u *udpSocket) report(failures []failure) {
	for _, f := range failures {
		u.set.handler.Failed(f.ref, f.target, f.err)
	}
}
