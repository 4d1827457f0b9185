package transport

import (
	"encoding/binary"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of a batch.
const (
	recvBatch uintptr = unix.SYS_RECVMMSG
	sendBatch uintptr = unix.SYS_SENDMMSG
)

// mmsghdr is struct mmsghdr of recvmmsg(2).
type mmsghdr struct {
	header unix.Msghdr
	length uint32
}

// datagrams is a batch for recvmmsg and sendmmsg whose kernel structures are made once. The batches of golang.org/x/net build
// them for every call and allocate every source address: half a microsecond and two allocations per datagram more.
type datagrams struct {
	raw     syscall.RawConn
	headers []mmsghdr
	vectors []unix.Iovec
	names   []unix.RawSockaddrInet6 // holds a sockaddr_in too

	// arguments and results of the system call, made by a callback that is allocated once
	call        func(fd uintptr) bool
	first, last int
	done        int
	errno       syscall.Errno
}

// newDatagrams prepares slots for a socket; trap is recvBatch or sendBatch.
func newDatagrams(u *udpSocket, slots int, trap uintptr) *datagrams {
	d := &datagrams{
		raw: u.raw, headers: make([]mmsghdr, slots), vectors: make([]unix.Iovec, slots), names: make([]unix.RawSockaddrInet6, slots),
	}
	for i := range d.headers {
		h := &d.headers[i].header
		h.Name = (*byte)(unsafe.Pointer(&d.names[i]))
		h.Namelen = unix.SizeofSockaddrInet6
		h.Iov = &d.vectors[i]
		h.SetIovlen(1)
	}
	d.call = func(fd uintptr) bool {
		n, _, errno := unix.Syscall6(trap, fd, uintptr(unsafe.Pointer(&d.headers[d.first])), uintptr(d.last-d.first),
			unix.MSG_DONTWAIT, 0, 0)
		if d.done, d.errno = 0, errno; errno == 0 {
			d.done = int(n)
		}
		return errno != syscall.EAGAIN || trap == sendBatch
	}
	return d
}

// setBuffer gives slot i its memory; b is not empty.
func (d *datagrams) setBuffer(i int, b []byte) {
	d.vectors[i].Base = &b[0]
	d.vectors[i].SetLen(len(b))
}

// receive waits for datagrams and returns how many there are, from slot 0 on.
func (d *datagrams) receive() (int, error) {
	for i := range d.done {
		d.headers[i].header.Namelen = unix.SizeofSockaddrInet6
	}
	d.first, d.last = 0, len(d.headers)
	if err := d.raw.Read(d.call); err != nil {
		return 0, err
	}
	return d.result("recvmmsg")
}

// send writes the slots from first to last and returns how many left. It never waits: EAGAIN is an error.
func (d *datagrams) send(first, last int) (int, error) {
	d.first, d.last = first, last
	if err := d.raw.Write(d.call); err != nil {
		return 0, err
	}
	return d.result("sendmmsg")
}

func (d *datagrams) result(name string) (int, error) {
	if d.errno != 0 {
		return 0, os.NewSyscallError(name, d.errno)
	}
	return d.done, nil
}

// source returns where the datagram in slot i came from.
func (d *datagrams) source(i int) netip.AddrPort {
	name := &d.names[i]
	port := binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&name.Port))[:])
	if name.Family == unix.AF_INET {
		four := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		return netip.AddrPortFrom(netip.AddrFrom4(four.Addr), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(name.Addr).Unmap(), port)
}

// setTarget says where slot i goes. The zone of a link-local address is lost: such peers are not configured.
func (d *datagrams) setTarget(i int, to netip.AddrPort) {
	name := &d.names[i]
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&name.Port))[:], to.Port())
	if to.Addr().Is4() {
		four := (*unix.RawSockaddrInet4)(unsafe.Pointer(name))
		four.Family, four.Addr = unix.AF_INET, to.Addr().As4()
		d.headers[i].header.Namelen = unix.SizeofSockaddrInet4
		return
	}
	name.Family, name.Addr = unix.AF_INET6, to.Addr().As16()
	d.headers[i].header.Namelen = unix.SizeofSockaddrInet6
}

// length returns the size of the datagram received in slot i.
func (d *datagrams) length(i int) int { return int(d.headers[i].length) }

// forget drops the memory of the first n slots, so that what was sent can be freed.
func (d *datagrams) forget(n int) {
	for i := range n {
		d.vectors[i].Base = nil
	}
}
