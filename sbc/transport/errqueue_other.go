//go:build !linux

package transport

// drainErrors has no error queue to read on this system: refused datagrams are found by timers only.
func (u *udpSocket) drainErrors() []failure { return nil }
