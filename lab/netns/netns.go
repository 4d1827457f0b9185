package netns

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dir is where iproute2 keeps the names of network namespaces.
const dir = "/run/netns"

// Namespace is one named network namespace.
type Namespace struct {
	// Name is what `ip netns list` shows.
	Name string
}

// Add makes the namespace name with its loopback up and ICMP rate limits off,
// so that every refused datagram is answered and not only one in a second.
func Add(name string) (*Namespace, error) {
	if err := run("", "ip", "netns", "add", name); err != nil {
		return nil, err
	}
	n := &Namespace{Name: name}
	if err := n.prepare(); err != nil {
		return nil, fmt.Errorf("namespace %s: %w (and %w)", name, err, n.Delete())
	}
	return n, nil
}

func (n *Namespace) prepare() error {
	if err := n.IP("link set lo up"); err != nil {
		return err
	}
	// The limiter would swallow the port-unreachable that a dead PBX's host sends.
	return n.Sysctl(map[string]string{
		"net.ipv4.icmp_ratelimit":             "0",
		"net.ipv6.icmp.ratelimit":             "0",
		"net.ipv6.conf.all.accept_dad":        "0",
		"net.ipv6.conf.default.accept_dad":    "0",
		"net.ipv4.conf.all.rp_filter":         "0",
		"net.ipv4.conf.default.rp_filter":     "0",
		"net.ipv6.conf.default.accept_ra":     "0",
		"net.ipv6.conf.default.autoconf":      "0",
		"net.ipv4.ping_group_range":           "0 2147483647",
		"net.ipv6.conf.default.dad_transmits": "0",
	})
}

// Sysctl sets network parameters of the namespace; a parameter that this
// kernel does not have is passed over.
func (n *Namespace) Sysctl(values map[string]string) error {
	return n.Do(func() error {
		for key, value := range values {
			path := filepath.Join("/proc/sys", strings.ReplaceAll(key, ".", "/"))
			err := os.WriteFile(path, []byte(value), 0)
			if err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("sysctl %s: %w", key, err)
			}
		}
		return nil
	})
}

// IP runs iproute2 commands inside the namespace, one per line, without the
// leading "ip": "link set lo up". The first failing line ends the batch.
func (n *Namespace) IP(lines ...string) error {
	return run(strings.Join(lines, "\n")+"\n", "ip", "-n", n.Name, "-batch", "-")
}

// NFT replaces or adds nftables rules inside the namespace; script is nft
// syntax, as `nft -f -` reads it.
func (n *Namespace) NFT(script string) error {
	return run(script, "ip", "netns", "exec", n.Name, "nft", "-f", "-")
}

// Do calls fn on a thread that is inside the namespace. Sockets that fn opens
// stay in the namespace after Do returned. fn must not start goroutines that
// open sockets: these would run in the caller's namespace.
func (n *Namespace) Do(fn func() error) error {
	runtime.LockOSThread()
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("open own namespace: %w", err)
	}
	defer unix.Close(home)
	there, err := unix.Open(filepath.Join(dir, n.Name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("open namespace %s: %w", n.Name, err)
	}
	defer unix.Close(there)
	if err := unix.Setns(there, unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter namespace %s: %w", n.Name, err)
	}
	err = fn()
	if back := unix.Setns(home, unix.CLONE_NEWNET); back != nil {
		// The thread stays locked and dies with its goroutine: it must never
		// serve other goroutines from inside the wrong namespace.
		return fmt.Errorf("leave namespace %s: %w", n.Name, back)
	}
	runtime.UnlockOSThread()
	return err
}

// Command returns a command that runs inside the namespace. Its process id is
// the program's own: `ip netns exec` replaces itself by the program.
func (n *Namespace) Command(name string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", n.Name, name}, args...)...)
}

// Pids lists the processes that live in the namespace.
func (n *Namespace) Pids() ([]int, error) {
	out, err := exec.Command("ip", "netns", "pids", n.Name).Output()
	if err != nil {
		return nil, fmt.Errorf("ip netns pids %s: %w", n.Name, err)
	}
	var pids []int
	for f := range strings.FieldsSeq(string(out)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("ip netns pids %s: %w", n.Name, err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// Delete removes the namespace's name; the kernel frees it, with its links,
// when its last process and socket are gone.
func (n *Namespace) Delete() error { return run("", "ip", "netns", "del", n.Name) }

// List returns the names of all namespaces that start with prefix.
func List(prefix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// run executes one program with input and returns its output inside the error.
func run(input, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}
