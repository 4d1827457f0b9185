package tandem

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// Terminate sends the node SIGTERM: it drains, and ends in its own time.
func (n *Node) Terminate() { n.Signal(syscall.SIGTERM) }

// Signal sends the node's process a signal.
func (n *Node) Signal(s syscall.Signal) { n.process.Signal(s) }

// Ended waits for the end of the node's process, at most this long.
func (n *Node) Ended(wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-n.process.Done():
		_ = os.Remove(n.socket)
		return nil
	case <-timer.C:
		return fmt.Errorf("node %s still runs %v after it was told to end", n.Name, wait)
	}
}
