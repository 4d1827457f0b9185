//go:build !linux

package transport

import (
	"net"
	"syscall"
	"time"
)

// controlUDP leaves the options as the system sets them: one socket per listener, no ICMP errors.
func controlUDP(string, bool, int, int) func(string, string, syscall.RawConn) error { return nil }

// tuneTCP does nothing on this system.
func tuneTCP(*net.TCPConn, time.Duration) {}
