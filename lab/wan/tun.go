package wan

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tandem-sbc/tandem/lab/netns"
)

// mtu is that of the TUN devices: an Ethernet path's.
const mtu = 1500

// ifreq is struct ifreq as TUNSETIFF reads it: a name and flags.
type ifreq struct {
	name  [unix.IFNAMSIZ]byte
	flags uint16
	_     [22]byte
}

// openTUN makes a TUN device and moves it into the end's namespace with the
// end's addresses. The file stays readable and writable from this process,
// whatever namespace the device lives in.
func openTUN(e netns.End) (*os.File, error) {
	req := ifreq{flags: unix.IFF_TUN | unix.IFF_NO_PI}
	if copy(req.name[:unix.IFNAMSIZ-1], e.Interface) < len(e.Interface) {
		return nil, fmt.Errorf("interface name %q is too long", e.Interface)
	}
	fd := -1
	// Opened inside the namespace, the device is born there: two laboratories
	// may use one name at the same time.
	err := e.Namespace.Do(func() (err error) {
		if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("open /dev/net/tun: %w", err)
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TUNSETIFF, uintptr(unsafe.Pointer(&req))); errno != 0 {
			return fmt.Errorf("make TUN device %s: %w", e.Interface, errno)
		}
		return nil
	})
	if err == nil {
		err = e.Up(fmt.Sprintf("mtu %d", mtu))
	}
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), e.Interface), nil
}
