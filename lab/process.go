package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// stopGrace is how long a program gets between SIGTERM and SIGKILL.
const stopGrace = 5 * time.Second

// ErrClosed says that a program was started in a Lab that is closed.
var ErrClosed = errors.New("laboratory is closed")

// Program says what to start.
type Program struct {
	// Place is where it runs; Name is unique in the Lab and names its log.
	Place Place
	Name  string
	// Args are the program and its arguments; Dir its working directory
	// (default: the Lab's); Env is added to the environment.
	Args []string
	Dir  string
	Env  []string
	// Input is its standard input; nil means none.
	Input *os.File
}

// Process is a program running in the Lab, with the group of its children.
type Process struct {
	Program
	// Log is the path of the file with its output and errors.
	Log string

	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed
}

// Start starts a program. It lives until Stop, Kill or the Lab's Close, and
// dies with the Lab's owner.
func (l *Lab) Start(p Program) (*Process, error) {
	log, err := os.OpenFile(filepath.Join(l.Dir, p.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	defer log.Close()
	ns := l.Namespace(p.Place)
	if ns == nil {
		return nil, fmt.Errorf("start %s: no place %q", p.Name, p.Place)
	}
	cmd := ns.Command(p.Args[0], p.Args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Dir, log, log
	if cmd.Dir == "" {
		cmd.Dir = l.Dir
	}
	if p.Input != nil {
		cmd.Stdin = p.Input
	}
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("start %s: %w", p.Name, ErrClosed)
	}
	if err := l.spawner.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	proc := &Process{Program: p, Log: log.Name(), cmd: cmd, done: make(chan struct{})}
	go func() {
		proc.err = cmd.Wait()
		close(proc.done)
	}()
	l.processes = append(l.processes, proc)
	return proc, nil
}

// Pid is the program's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitCode waits for the end of the program and returns its exit code, -1 when
// a signal ended it.
func (p *Process) ExitCode() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// Running tells whether the program still runs.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Signal sends a signal to the program and its children, if it still runs.
func (p *Process) Signal(s syscall.Signal) {
	if p.Running() {
		// It may end in this moment; the group number is not given again before
		// Wait has returned.
		_ = syscall.Kill(-p.Pid(), s)
	}
}

// Kill ends the program at once with SIGKILL, as a crash would, and waits for it.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// Stop asks the program to end, ends it by force after a grace time, and waits
// for it.
func (p *Process) Stop() {
	p.Signal(syscall.SIGTERM)
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	p.end(grace)
}

// end waits for the program until grace is over, then ends it by force.
func (p *Process) end(grace context.Context) {
	select {
	case <-p.done:
	case <-grace.Done():
		p.Kill()
	}
}

// spawner starts programs on one thread that lives as long as the Lab: the
// kernel sends a child its parent-death signal when the *thread* that started
// it ends.
type spawner struct {
	requests chan func()
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for f := range s.requests {
			f()
		}
	}()
	return s
}

func (s *spawner) start(cmd *exec.Cmd) error {
	result := make(chan error)
	s.requests <- func() { result <- cmd.Start() }
	return <-result
}

func (s *spawner) stop() { close(s.requests) }
