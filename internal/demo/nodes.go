package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// child is one node as a process of its own.
type child struct {
	place
	cmd  *exec.Cmd
	done chan struct{}
}

// startNode starts the same binary as a node. Its log goes to a file in dir.
func startNode(dir, file string, p place) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("demo: own binary: %w", err)
	}
	log, err := os.OpenFile(filepath.Join(dir, p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	defer func() { _ = log.Close() }() // the child has its own descriptor
	c := &child{place: p, cmd: exec.Command(exe, "server", "--config", file), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.Env = append(os.Environ(), "GOMAXPROCS=1") // five nodes share a laptop
	c.cmd.SysProcAttr = childAttributes()
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("demo: start %s: %w", p.name, err)
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// kill ends the process at once, as a power cut would.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

// stop asks the process to end and waits for it.
func (c *child) stop() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(5 * time.Second):
		c.kill()
	}
}

func (c *child) running() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// ready waits until the node says that it takes calls.
func (c *child) ready(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if c.get(ctx, "/readyz", nil) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("demo: %s did not become ready: %w", c.name, ctx.Err())
		case <-c.done:
			return fmt.Errorf("demo: %s ended: see its log", c.name)
		case <-tick.C:
		}
	}
}

func (c *child) get(ctx context.Context, path string, line func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at(c.ip, metricsPort)+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	scan := bufio.NewScanner(resp.Body)
	for scan.Scan() {
		if line != nil {
			line(scan.Text())
		}
	}
	return scan.Err()
}

// metric adds up the samples of a metric whose line holds all of the texts.
func (c *child) metric(ctx context.Context, name string, with ...string) float64 {
	sum := 0.0
	_ = c.get(ctx, "/metrics", func(line string) { // a node that is down counts nothing
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") {
			return
		}
		for _, w := range with {
			if !strings.Contains(line, w) {
				return
			}
		}
		var v float64
		if i := strings.LastIndexByte(line, ' '); i > 0 {
			if _, err := fmt.Sscan(line[i+1:], &v); err == nil {
				sum += v
			}
		}
	})
	return sum
}
