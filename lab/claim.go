package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tandem-sbc/tandem/lab/netns"
)

// claims holds one locked file per living Lab, named by its prefix. The kernel
// drops the lock when the owner dies, however it dies.
const claims = "/run/tandem-lab"

// claim takes a prefix that no other Lab uses.
func claim() (string, *os.File, error) {
	if err := os.MkdirAll(claims, 0o755); err != nil {
		return "", nil, fmt.Errorf("claim a laboratory: %w", err)
	}
	for {
		prefix := fmt.Sprintf("tl%04x", rand.N(1<<16))
		f, err := os.OpenFile(filepath.Join(claims, prefix), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("claim a laboratory: %w", err)
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			return prefix, f, nil
		}
		// Another Sweep took the file for an orphan in this very moment.
		f.Close()
	}
}

// Sweep removes what Labs of dead owners left: their namespaces and the
// processes inside these.
func Sweep() error {
	entries, err := os.ReadDir(claims)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep laboratories: %w", err)
	}
	var errs error
	for _, e := range entries {
		f, err := os.OpenFile(filepath.Join(claims, e.Name()), os.O_RDWR, 0)
		if err != nil {
			continue // its owner or another Sweep has just removed it
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			errs = errors.Join(errs, remove(e.Name()), os.Remove(f.Name()))
		}
		f.Close()
	}
	return errs
}

// remove deletes all namespaces of a prefix and ends what still runs in them.
func remove(prefix string) error {
	if !strings.HasPrefix(prefix, "tl") {
		return fmt.Errorf("%q is no laboratory's prefix", prefix)
	}
	names, err := netns.List(prefix + "-")
	if err != nil {
		return err
	}
	var errs error
	for _, name := range names {
		ns := &netns.Namespace{Name: name}
		pids, err := ns.Pids()
		errs = errors.Join(errs, err)
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				errs = errors.Join(errs, fmt.Errorf("end process %d of %s: %w", pid, name, err))
			}
		}
		errs = errors.Join(errs, ns.Delete())
	}
	return errs
}

// Close ends every process, the WAN links and the namespaces of the Lab. It may
// be called again.
func (l *Lab) Close() error {
	l.mu.Lock()
	processes, closed := l.processes, l.closed
	l.closed = true
	l.mu.Unlock()
	if closed {
		return nil
	}
	for _, p := range processes {
		p.Signal(syscall.SIGTERM)
	}
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	for _, p := range processes {
		p.end(grace)
	}
	var errs error
	for _, w := range l.links {
		errs = errors.Join(errs, w.Close())
	}
	errs = errors.Join(errs, remove(l.Prefix), os.Remove(l.lock.Name()), l.lock.Close())
	l.spawner.stop()
	return errs
}
