package transport

import (
	"net"
	"syscall"
)

// directWriter writes to a TCP socket without ever waiting, so that a message costs one system call and no goroutine. It belongs
// to the connection's mutex. The callback is made once: a closure per message would allocate.
type directWriter struct {
	raw  syscall.RawConn
	call func(fd uintptr)
	data []byte
	n    int
}

// newDirectWriter returns nil when the socket gives no access; the writer goroutine does all the work then.
func newDirectWriter(c *net.TCPConn) *directWriter {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	w := &directWriter{raw: raw}
	w.call = func(fd uintptr) { w.n, _ = syscall.Write(int(fd), w.data) }
	return w
}

// write returns how many bytes the socket took. An error counts as none: the writer goroutine will meet it again.
func (w *directWriter) write(data []byte) int {
	w.data, w.n = data, 0
	err := w.raw.Control(w.call)
	w.data = nil
	if err != nil {
		return 0
	}
	return max(w.n, 0)
}
