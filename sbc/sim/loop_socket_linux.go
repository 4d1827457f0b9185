package sim

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	loopBatch  = 32
	loopBuffer = 8 << 10 // a load test's messages are smaller
	loopMemory = 4 << 20 // of the kernel, for each direction
)

// loopSocket is one UDP socket of a Loop.
type loopSocket struct {
	fd     int
	addr   netip.AddrPort
	end    *endpoint
	index  int
	in     *messages
	out    *messages
	queued int
}

func openLoopSocket(addr netip.AddrPort) (*loopSocket, error) {
	family := unix.AF_INET6
	var sa unix.Sockaddr = &unix.SockaddrInet6{Port: int(addr.Port()), Addr: addr.Addr().As16()}
	if addr.Addr().Unmap().Is4() {
		family = unix.AF_INET
		sa = &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().Unmap().As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	for _, buffer := range []struct{ force, plain int }{{unix.SO_RCVBUFFORCE, unix.SO_RCVBUF}, {unix.SO_SNDBUFFORCE, unix.SO_SNDBUF}} {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, buffer.force, loopMemory) != nil {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, buffer.plain, loopMemory) // the system's limit will do
		}
	}
	if err := unix.Bind(fd, sa); err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), unix.Close(fd))
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("getsockname", err), unix.Close(fd))
	}
	s := &loopSocket{fd: fd, in: newMessages(true), out: newMessages(false)}
	switch b := bound.(type) {
	case *unix.SockaddrInet4:
		s.addr = netip.AddrPortFrom(netip.AddrFrom4(b.Addr), uint16(b.Port))
	case *unix.SockaddrInet6:
		s.addr = netip.AddrPortFrom(netip.AddrFrom16(b.Addr), uint16(b.Port))
	}
	return s, nil
}

func (s *loopSocket) close() error { return os.NewSyscallError("close", unix.Close(s.fd)) }

// receive reads up to loopBatch datagrams.
func (s *loopSocket) receive() int {
	for i := range loopBatch {
		s.in.headers[i].header.Namelen = unix.SizeofSockaddrInet6
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.in.headers[0])), loopBatch, unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// queue keeps one datagram until flush.
func (s *loopSocket) queue(to netip.AddrPort, data []byte) {
	if s.queued == loopBatch {
		s.flush()
	}
	s.out.set(s.queued, to, data)
	s.queued++
}

// flush sends what is queued. What the kernel does not take is lost, as on a wire.
func (s *loopSocket) flush() {
	for sent := 0; sent < s.queued; {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.out.headers[sent])), uintptr(s.queued-sent), unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 {
			n = 1
		}
		sent += int(n)
	}
	for i := range s.queued {
		s.out.vectors[i].Base = nil
	}
	s.queued = 0
}

// messages are the kernel's structures of one batch, made once.
type messages struct {
	headers [loopBatch]messageHeader
	vectors [loopBatch]unix.Iovec
	names   [loopBatch]unix.RawSockaddrInet6 // holds an IPv4 address too
	memory  []byte
}

// messageHeader is struct mmsghdr of recvmmsg(2).
type messageHeader struct {
	header unix.Msghdr
	length uint32
}

func newMessages(receiving bool) *messages {
	m := &messages{}
	if receiving {
		m.memory = make([]byte, loopBatch*loopBuffer)
	}
	for i := range loopBatch {
		h := &m.headers[i].header
		h.Name = (*byte)(unsafe.Pointer(&m.names[i]))
		h.Iov = &m.vectors[i]
		h.SetIovlen(1)
		if receiving {
			m.vectors[i].Base = &m.memory[i*loopBuffer]
			m.vectors[i].SetLen(loopBuffer)
		}
	}
	return m
}

// data returns the datagram received in a slot; it is valid until the next
// receive.
func (m *messages) data(slot int) []byte {
	return m.memory[slot*loopBuffer:][:m.headers[slot].length]
}

// addr returns where the datagram in a slot came from.
func (m *messages) addr(slot int) netip.AddrPort {
	name := &m.names[slot]
	port := binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&name.Port))[:])
	if name.Family == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(name)).Addr), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(name.Addr), port)
}

// set fills a slot for sending.
func (m *messages) set(slot int, to netip.AddrPort, data []byte) {
	name := &m.names[slot]
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&name.Port))[:], to.Port())
	if a := to.Addr().Unmap(); a.Is4() {
		four := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		four.Family, four.Addr = unix.AF_INET, a.As4()
		m.headers[slot].header.Namelen = unix.SizeofSockaddrInet4
	} else {
		name.Family, name.Addr = unix.AF_INET6, a.As16()
		m.headers[slot].header.Namelen = unix.SizeofSockaddrInet6
	}
	m.vectors[slot].Base = &data[0]
	m.vectors[slot].SetLen(len(data))
}
