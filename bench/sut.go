//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Where everybody listens: high ports of loopback, so that nothing that runs on
// the machine is in the way.
var (
	sutAddr    = netip.MustParseAddrPort("127.0.0.1:15060")
	callerAddr = netip.MustParseAddrPort("127.0.0.1:17000")
)

const (
	farPort      = 17101
	calledNumber = "+12145550100"
)

func farAddr(i int) netip.AddrPort {
	return netip.AddrPortFrom(sutAddr.Addr(), uint16(farPort+i))
}

// errMissing marks a server that this machine does not have.
var errMissing = errors.New("not installed")

// server is a kind of server under test.
type server struct {
	name string
	// start starts the processes of the server, with their files in dir.
	start func(b *bench, dir string) ([]*process, error)
	// up reports whether the server says that it takes calls; nil: an answer to OPTIONS says so.
	up func(ctx context.Context) bool
}

var servers = []server{
	{"direct", func(*bench, string) ([]*process, error) { return nil, nil }, nil},
	{"tandem", startTandem, tandemUp},
	{"tandem-quiet", startTandemQuiet, tandemUp},
	{"kamailio", startKamailio, nil},
	{"kamailio-topos", startKamailioTopos, nil},
}

// session is a running server with its generator.
type session struct {
	server
	bench *bench
	dir   string
	procs []*process
	gen   *process
}

// open starts a server and, unless the caller brings a load program of its own,
// the generator; it returns when the server answers.
func (b *bench) open(ctx context.Context, name string, withGenerator bool) (*session, error) {
	s := &session{bench: b}
	for _, kind := range servers {
		if kind.name == name {
			s.server = kind
		}
	}
	if s.start == nil {
		return nil, fmt.Errorf("server %q is not known", name)
	}
	var err error
	if s.dir, err = os.MkdirTemp(b.dir, name+"-"); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if withGenerator {
		if s.gen, err = b.spawn(s.dir, "generator", b.genCore, true, []string{"GOMAXPROCS=2", "GOGC=400"}, b.self, generatorWord); err != nil {
			return nil, err
		}
		if _, err = s.hear(); err != nil {
			s.close()
			return nil, err
		}
	}
	if s.procs, err = s.start(b, s.dir); err != nil {
		s.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(s.procs) > 0 {
		if err := s.ready(ctx); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

func (s *session) close() {
	for _, p := range s.procs {
		p.stop()
	}
	s.gen.stop()
}

// ready asks the server by OPTIONS until it answers.
func (s *session) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	// The far ends' address is free of any bind: the question comes from a port of its own.
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(sutAddr))
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer func() { _ = c.Close() }()
	answer := make([]byte, 4096)
	for i := 0; ; i++ {
		_, _ = fmt.Fprintf(c, "OPTIONS sip:%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;rport;branch=z9hG4bKready%d\r\nMax-Forwards: 70\r\n"+
			"From: <sip:bench@127.0.0.1>;tag=ready\r\nTo: <sip:%s>\r\nCall-ID: ready%d@bench\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n",
			sutAddr, c.LocalAddr(), i, sutAddr, i)
		_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if n, err := c.Read(answer); err == nil && strings.HasPrefix(string(answer[:n]), "SIP/2.0 200") && (s.up == nil || s.up(ctx)) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer OPTIONS: %w\n%s", s.name, ctx.Err(), s.procs[len(s.procs)-1].tail())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// tell gives the generator an order and waits for what comes of it.
func (s *session) tell(o order) (answer, error) {
	o.Direct, o.Grace = len(s.procs) == 0, s.bench.size.grace
	line, err := json.Marshal(o)
	if err != nil {
		return answer{}, fmt.Errorf("order: %w", err)
	}
	if _, err := s.gen.in.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("generator: %w\n%s", err, s.gen.tail())
	}
	return s.hear()
}

func (s *session) hear() (answer, error) {
	var a answer
	if !s.gen.out.Scan() {
		return a, fmt.Errorf("generator ended\n%s", s.gen.tail())
	}
	if err := json.Unmarshal(s.gen.out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("generator: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

func (s *session) cpu() (sum time.Duration) {
	for _, p := range s.procs {
		sum += p.cpu()
	}
	return sum
}

func (s *session) memory() (sum int64) {
	for _, p := range s.procs {
		sum += p.memory()
	}
	return sum
}

// need returns errMissing when a program is not installed.
func need(programs ...string) error {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return fmt.Errorf("%w: %s", errMissing, p)
		}
	}
	return nil
}
