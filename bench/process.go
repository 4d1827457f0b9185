//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server or generator in a session of its own, pinned to a core.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	log  *os.File
	name string
}

// spawn starts a command on one core. Its error output, and with piped false its
// standard output, go to a file in dir.
func (b *bench) spawn(dir, name, core string, piped bool, env []string, argv ...string) (*process, error) {
	if os.Geteuid() == 0 && !b.short {
		argv = append([]string{"nice", "-n", "-20"}, argv...) // other load on the machine stays out of the way
	}
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &process{name: name, log: log}
	p.cmd = exec.Command("taskset", append([]string{"-c", core}, argv...)...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if piped {
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.out = bufio.NewScanner(out)
		p.out.Buffer(nil, 1<<20)
		if p.in, err = p.cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	} else {
		p.cmd.Stdout = log
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), log.Close())
	}
	return p, nil
}

// stop ends the process and all of its session.
func (p *process) stop() {
	if p == nil {
		return
	}
	if p.in != nil {
		_ = p.in.Close()
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // a server that was told to end may report that as a failure
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		for _, pid := range p.pids() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-done
	}
	_ = p.log.Close()
}

// tail returns the end of the process's log, for an error message.
func (p *process) tail() string {
	b, err := os.ReadFile(p.log.Name())
	if err != nil {
		return ""
	}
	return string(b[max(0, len(b)-1500):])
}

// pids lists the live processes of the session.
func (p *process) pids() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		f := statFields(fmt.Sprintf("/proc/%d/stat", pid))
		if len(f) > 3 && f[3] == strconv.Itoa(p.cmd.Process.Pid) && f[0] != "Z" {
			list = append(list, pid)
		}
	}
	return list
}

// statFields returns the fields of a stat file behind the command's name.
func statFields(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
}

// cpu returns the processor time that the session has used. The scheduler's count
// is exact but forgets ended threads; that of the process remembers them in ticks
// of 10 ms: the greater of both is the better.
func (p *process) cpu() time.Duration {
	var sum time.Duration
	for _, pid := range p.pids() {
		var exact, ticks int64
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, t := range tasks {
			if b, err := os.ReadFile(t); err == nil {
				first, _, _ := strings.Cut(string(b), " ")
				n, _ := strconv.ParseInt(first, 10, 64)
				exact += n
			}
		}
		if f := statFields(fmt.Sprintf("/proc/%d/stat", pid)); len(f) > 12 {
			for _, v := range f[11:13] {
				n, _ := strconv.ParseInt(v, 10, 64)
				ticks += n
			}
		}
		sum += time.Duration(max(exact, ticks*int64(10*time.Millisecond)))
	}
	return sum
}

// memory returns the proportional set size of the session in bytes: memory that
// processes share counts once.
func (p *process) memory() int64 {
	var kib int64
	for _, pid := range p.pids() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for line := range strings.SplitSeq(string(b), "\n") {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
				n, _ := strconv.ParseInt(f[1], 10, 64)
				kib += n
			}
		}
	}
	return kib * 1024
}

// machineBusy returns the processor time that the whole machine has used.
func machineBusy() time.Duration {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	var busy int64
	for i, v := range strings.Fields(line)[1:] {
		if n, _ := strconv.ParseInt(v, 10, 64); i != 3 && i != 4 && i < 8 {
			busy += n
		}
	}
	return time.Duration(busy) * 10 * time.Millisecond
}
