package sim

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// Registrant is one PBX that registers.
type Registrant struct {
	AOR string // sip:user@host
	Credentials
}

// RegistrantsConfig describes PBXs that register all at once: after a power
// cut, or when a site that was lost is back.
type RegistrantsConfig struct {
	// Nodes are asked in turn, one for each PBX, the next one after silence.
	Nodes []netip.AddrPort
	PBXs  []Registrant
	// Locals are the addresses that the PBXs share, with a socket on each.
	Locals []netip.Addr
	// Rate is how many begin in a second; 0 = all at once.
	Rate int
	// Expires is asked for; default 1 h.
	Expires time.Duration
	// T1 is the first pause before a repetition; default 500 ms.
	T1 time.Duration
}

// RegistrantsReport is what became of them.
type RegistrantsReport struct {
	Registered int           // answered 200
	Refused    map[int]int   // by code; 401 and 503 are not the end
	Spread     int           // 503 that said when to come back, and were heeded
	Repeats    int           // requests that were sent again
	Silent     int           // transactions without an answer; the PBX began anew
	Took       time.Duration // until the last one was registered
	RetryAfter time.Duration // the longest that was asked for
}

// Registrants are PBXs that register over UDP, on one goroutine.
type Registrants struct {
	cfg     RegistrantsConfig
	conns   []*net.UDPConn
	answers chan []byte
	pbxs    []registrant
	due     dueHeap
	report  RegistrantsReport
	open    int // not yet registered
}

// registrant is where one PBX stands.
type registrant struct {
	cseq    uint32
	node    int
	last    []byte // request that is out; nil = wait, then begin
	tries   int
	pause   time.Duration
	at      time.Time
	pos     int
	done    bool
	contact string
	number  int
}

const (
	registerTries = 7 // of one transaction, some 32 s (timer F)
	maxPause      = 4 * time.Second
)

// NewRegistrants binds the sockets. Close them by Close.
func NewRegistrants(cfg RegistrantsConfig) (*Registrants, error) {
	if len(cfg.Nodes) == 0 || len(cfg.Locals) == 0 {
		return nil, errors.New("registrants: no node, or no address of their own")
	}
	if cfg.Expires == 0 {
		cfg.Expires = time.Hour
	}
	if cfg.T1 == 0 {
		cfg.T1 = 500 * time.Millisecond
	}
	l := &Registrants{cfg: cfg, answers: make(chan []byte, 1<<14), pbxs: make([]registrant, len(cfg.PBXs)), open: len(cfg.PBXs)}
	for _, at := range cfg.Locals {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, 0)))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("registrants: %w", err), l.Close())
		}
		_ = c.SetReadBuffer(8 << 20) // less is less, not wrong
		l.conns = append(l.conns, c)
	}
	return l, nil
}

// Close ends the sockets.
func (l *Registrants) Close() error {
	var errs []error
	for _, c := range l.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// Addr is where the PBX of this number is reached.
func (l *Registrants) Addr(pbx int) netip.AddrPort {
	return l.conns[pbx%len(l.conns)].LocalAddr().(*net.UDPAddr).AddrPort()
}

// Run registers all PBXs, however often they are told to come back, until all
// are registered or refused for good, or ctx ends. It may be called again: they
// refresh.
func (l *Registrants) Run(ctx context.Context) RegistrantsReport {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, c := range l.conns {
		go l.read(ctx, c)
	}
	start := time.Now()
	l.report = RegistrantsReport{Refused: make(map[int]int)}
	l.begin(start)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for l.open > 0 {
		select {
		case <-ctx.Done():
			l.report.Took = time.Since(start)
			return l.report
		case raw := <-l.answers:
			l.answer(time.Now(), raw)
		case <-timer.C:
		}
		l.drain() // what is answered is not sent again
		now := time.Now()
		for len(l.due) > 0 && !l.due[0].at.After(now) {
			l.expire(now, heap.Pop(&l.due).(*registrant))
		}
		if len(l.due) > 0 {
			timer.Reset(time.Until(l.due[0].at))
		}
	}
	l.report.Took = time.Since(start)
	return l.report
}

// drain takes the responses that wait.
func (l *Registrants) drain() {
	for {
		select {
		case raw := <-l.answers:
			l.answer(time.Now(), raw)
		default:
			return
		}
	}
}

func (l *Registrants) begin(now time.Time) {
	l.due, l.open = nil, len(l.pbxs)
	for i := range l.pbxs {
		p := &l.pbxs[i]
		p.node, p.number, p.done, p.last = i, i, false, nil
		p.contact = fmt.Sprintf("sip:pbx%d@%s", i, l.Addr(i))
		p.at = now
		if l.cfg.Rate > 0 {
			p.at = now.Add(time.Duration(i) * time.Second / time.Duration(l.cfg.Rate))
		}
		heap.Push(&l.due, p)
	}
}

// read passes on what comes by one socket.
func (l *Registrants) read(ctx context.Context, c *net.UDPConn) {
	defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	stop := context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Now()) })
	defer stop()
	var buf [4096]byte
	for ctx.Err() == nil {
		n, err := c.Read(buf[:])
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		select {
		case l.answers <- append([]byte(nil), buf[:n]...):
		case <-ctx.Done():
			return
		}
	}
}

// expire sends what is due, again or for the first time.
func (l *Registrants) expire(now time.Time, p *registrant) {
	i := p.number
	switch {
	case p.done:
		return
	case p.last == nil:
		l.request(now, i, "")
	case p.tries >= registerTries:
		l.report.Silent++
		p.node++
		l.request(now, i, "")
	default:
		l.report.Repeats++
		l.send(now, i)
	}
}

// request sends a new transaction.
func (l *Registrants) request(now time.Time, i int, authorization string) {
	p := &l.pbxs[i]
	p.cseq++
	p.tries, p.pause = 0, l.cfg.T1
	aor := l.cfg.PBXs[i].AOR
	p.last = fmt.Appendf(nil, "REGISTER %s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=%s-%d-%d-%d;rport\r\nMax-Forwards: 70\r\n"+
		"From: <%s>;tag=r%d\r\nTo: <%s>\r\nCall-ID: reg-%d@%s\r\nCSeq: %d REGISTER\r\nContact: <%s>\r\nExpires: %d\r\n"+
		"User-Agent: Tandem registrant simulator\r\n%sContent-Length: 0\r\n\r\n",
		domainOf(aor), l.Addr(i), magic, i, p.cseq, now.UnixNano(), aor, i, aor, i, l.Addr(i), p.cseq, p.contact,
		int(l.cfg.Expires/time.Second), authorization)
	l.send(now, i)
}

// domainOf is the Request-URI of a REGISTER (RFC 3261 10.2).
func domainOf(aor string) string {
	u, err := sip.ParseURI([]byte(aor))
	if err != nil {
		return aor
	}
	return "sip:" + string(u.Host)
}

func (l *Registrants) send(now time.Time, i int) {
	p := &l.pbxs[i]
	node := l.cfg.Nodes[p.node%len(l.cfg.Nodes)]
	_, _ = l.conns[i%len(l.conns)].WriteToUDPAddrPort(p.last, node) // what is lost is sent again
	p.tries++
	l.wait(now, p, p.pause)
	p.pause = min(2*p.pause, maxPause)
}

func (l *Registrants) wait(now time.Time, p *registrant, d time.Duration) {
	if p.pos > 0 {
		heap.Remove(&l.due, p.pos-1)
	}
	p.at = now.Add(d)
	heap.Push(&l.due, p)
}

// answer takes a response.
func (l *Registrants) answer(now time.Time, raw []byte) {
	m, fault := sip.Parse(raw)
	if fault != nil || m.IsRequest() {
		return
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(string(m.CallID()), "reg-"), "@")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(l.pbxs) {
		return
	}
	p := &l.pbxs[i]
	if p.done || p.last == nil || m.CSeq() != p.cseq {
		return
	}
	switch code := m.Status(); {
	case code < 200:
	case code == 401 && p.authorized():
		l.refused(i, code)
	case code == 401:
		l.challenged(now, i, m)
	case code == 503:
		l.later(now, p, m)
	case code < 300:
		p.done = true
		l.report.Registered++
		l.open--
	default:
		l.refused(i, code)
	}
}
