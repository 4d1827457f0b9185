package ocs

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/diameter"
)

// Reply is what a script wants of a request in place of the server's own answer.
type Reply struct {
	Silent bool   // no answer
	Code   uint32 // 0: the server's own
	Answer *charging.Answer
}

// Server is a charging server.
type Server struct {
	Identity diameter.Identity

	mu       sync.Mutex
	script   func(r *charging.Request) Reply
	balance  map[string]int64
	reserved map[string]int64 // by session
	used     map[string]int64 // seconds by session, as Ro told them
	answers  map[key]charging.Answer
	records  []charging.Request // Rf, each once
	requests []charging.Request // all, as they came
	open     map[string]bool
	conns    map[*conn]bool
	wg       sync.WaitGroup
}

type key struct {
	session string
	kind    charging.Kind
	number  uint32
}

type conn struct {
	mu sync.Mutex
	c  net.Conn
}

func (c *conn) write(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.c.Write(b) // the other side has gone: the reader sees it
}

// New returns a server whose accounts are empty.
func New(host, realm string) *Server {
	return &Server{
		Identity: diameter.Identity{Host: host, Realm: realm, State: 1},
		balance:  make(map[string]int64), reserved: make(map[string]int64), used: make(map[string]int64),
		answers: make(map[key]charging.Answer), open: make(map[string]bool), conns: make(map[*conn]bool),
	}
}

// Play has each request answered by a script before it is worked on; nil for none.
func (s *Server) Play(script func(r *charging.Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Credit adds seconds to an account.
func (s *Server) Credit(account string, seconds int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balance[account] += seconds
}

// Balance returns what an account has left.
func (s *Server) Balance(account string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.balance[account]
}

// Used returns the seconds of a session, as Ro told them.
func (s *Server) Used(session string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used[session]
}

// Records returns what Rf told, each record once.
func (s *Server) Records() []charging.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]charging.Request(nil), s.records...)
}

// Requests returns all that came, in order.
func (s *Server) Requests() []charging.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]charging.Request(nil), s.requests...)
}

// Open returns the number of sessions that have not ended.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Listen serves connections of a listener until it is closed.
func (s *Server) Listen(l net.Listener) {
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.Serve(c)
		}
	})
}

// Serve serves one connection in a goroutine of its own.
func (s *Server) Serve(c net.Conn) {
	x := &conn{c: c}
	s.mu.Lock()
	s.conns[x] = true
	s.mu.Unlock()
	s.wg.Go(func() {
		defer func() {
			_ = c.Close() // it ends in any case
			s.mu.Lock()
			delete(s.conns, x)
			s.mu.Unlock()
		}()
		s.serve(x)
	})
}

// Cut closes all connections.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.conns {
		_ = x.c.Close() // it ends in any case
	}
}

// Wait waits until no connection is served; the listener is closed before.
func (s *Server) Wait() { s.wg.Wait() }

// Ask sends a RAR or an ASR about a session over all connections.
func (s *Server) Ask(session string, abort bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.conns {
		go x.write(diameter.AppendAsk(nil, &s.Identity, session, abort, 7, 7))
	}
}

func (s *Server) serve(x *conn) {
	r := bufio.NewReader(x.c)
	for {
		m, err := read(r)
		if err != nil {
			return
		}
		if !m.Request() {
			continue
		}
		switch m.Command {
		case diameter.CapabilitiesExchange:
			x.write(diameter.AppendCapabilitiesAnswer(nil, &s.Identity, &m, netip.AddrFrom4([4]byte{127, 0, 0, 1}), 2001))
		case diameter.DeviceWatchdog, diameter.DisconnectPeer:
			x.write(diameter.AppendReply(nil, &s.Identity, &m, 2001))
		case diameter.CreditControl, diameter.Accounting:
			if b := s.work(&m); b != nil {
				x.write(b)
			}
		default:
			x.write(diameter.AppendReply(nil, &s.Identity, &m, diameter.ResultUnsupported))
		}
	}
}

var errShort = errors.New("ocs: short message")

func read(r *bufio.Reader) (diameter.Message, error) {
	head, err := r.Peek(4)
	if err != nil {
		return diameter.Message{}, err
	}
	n, err := diameter.Size(head)
	if err != nil {
		return diameter.Message{}, err
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return diameter.Message{}, errShort
	}
	return diameter.Parse(b)
}

// work carries a request out, once.
func (s *Server) work(m *diameter.Message) []byte {
	r, err := diameter.ParseRequest(m)
	if err != nil {
		return diameter.AppendReply(nil, &s.Identity, m, 5004)
	}
	s.mu.Lock()
	play := s.script
	s.mu.Unlock()
	var script Reply
	if play != nil {
		script = play(&r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if script.Silent {
		return nil
	}
	if script.Code != 0 {
		return diameter.AppendAnswer(nil, &s.Identity, m, &r, &charging.Answer{Result: script.Code})
	}
	if script.Answer != nil {
		return diameter.AppendAnswer(nil, &s.Identity, m, &r, script.Answer)
	}
	k := key{r.Session, r.Kind, r.Number}
	a, known := s.answers[k]
	if !known {
		a = s.answer(&r)
		s.answers[k] = a
	}
	return diameter.AppendAnswer(nil, &s.Identity, m, &r, &a)
}

func (s *Server) answer(r *charging.Request) charging.Answer {
	if !r.Kind.Online() {
		s.records = append(s.records, *r)
		return charging.Answer{Result: charging.ResultSuccess}
	}
	account := r.Call.Account.ID
	if r.Kind == charging.Initial {
		s.open[r.Session] = true
	} else if !s.open[r.Session] {
		return charging.Answer{Result: charging.ResultUnknownID}
	}
	s.balance[account] += s.reserved[r.Session] - r.Used
	s.reserved[r.Session] = 0
	s.used[r.Session] += r.Used
	if r.Kind == charging.Termination {
		delete(s.open, r.Session)
		return charging.Answer{Result: charging.ResultSuccess}
	}
	grant := min(r.Service.Requested, s.balance[account])
	if grant <= 0 {
		if r.Kind == charging.Initial {
			delete(s.open, r.Session)
		}
		return charging.Answer{Result: charging.ResultNoCredit}
	}
	s.balance[account] -= grant
	s.reserved[r.Session] = grant
	return charging.Answer{Result: charging.ResultSuccess, Granted: grant, HasGrant: true}
}
