package sdnotify

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Manager is the service manager that started this process; nil when there is none. It is safe for concurrent use.
type Manager struct {
	addr     *net.UnixAddr
	watchdog time.Duration
	ready    atomic.Bool // READY=1 was told
	stopping atomic.Bool // STOPPING=1 was told
}

// Find returns the manager that the environment of the process pid names, or nil. Errors: a variable that nobody who
// follows the protocol would set.
func Find(env func(string) string, pid int) (*Manager, error) {
	name := env("NOTIFY_SOCKET")
	if name == "" {
		return nil, nil
	}
	if name[0] != '/' && name[0] != '@' || len(name) < 2 {
		return nil, fmt.Errorf("NOTIFY_SOCKET: %q is neither a path nor an abstract name", name)
	}
	m := &Manager{addr: &net.UnixAddr{Name: name, Net: "unixgram"}}
	interval := env("WATCHDOG_USEC")
	// A child of the process that is watched inherits its environment.
	if of := env("WATCHDOG_PID"); interval == "" || of != "" && of != strconv.Itoa(pid) {
		return m, nil
	}
	n, err := strconv.ParseInt(interval, 10, 64)
	if err != nil || n <= 0 || n > int64(24*time.Hour/time.Microsecond) {
		return nil, fmt.Errorf("WATCHDOG_USEC: %q is no interval in microseconds", interval)
	}
	m.watchdog = time.Duration(n) * time.Microsecond
	return m, nil
}

// Watchdog is how often the manager wants to hear that the process works, at least; 0 = never.
func (m *Manager) Watchdog() time.Duration {
	if m == nil {
		return 0
	}
	return m.watchdog
}

// Serving tells whether the manager takes the process for one that is ready and does not end.
func (m *Manager) Serving() bool { return m != nil && m.ready.Load() && !m.stopping.Load() }

// sendTimeout bounds what a manager that does not read can cost.
const sendTimeout = time.Second

// Tell sends the lines as one message. A newline within a line would begin another one: it becomes a space.
func (m *Manager) Tell(lines ...string) error {
	if m == nil {
		return nil
	}
	// The end is noted before it is told, so that a reload cannot call it off.
	if slices.Contains(lines, "STOPPING=1") {
		m.stopping.Store(true)
	}
	clean := make([]string, len(lines))
	for i, l := range lines {
		clean[i] = strings.ReplaceAll(l, "\n", " ")
	}
	conn, err := net.DialUnix("unixgram", nil, m.addr)
	if err != nil {
		return fmt.Errorf("service manager: %w", err)
	}
	defer func() { _ = conn.Close() }() // a datagram is sent, or Write has said why not
	if err := conn.SetDeadline(time.Now().Add(sendTimeout)); err != nil {
		return fmt.Errorf("service manager: %w", err)
	}
	if _, err := conn.Write([]byte(strings.Join(clean, "\n"))); err != nil {
		return fmt.Errorf("service manager: %w", err)
	}
	if slices.Contains(lines, "READY=1") {
		m.ready.Store(true)
	}
	return nil
}
