package peers

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/sbc/charging/diameter"
)

// Peer is a Diameter server, or an agent before one.
type Peer struct {
	Name    string
	Address string // host:port
	Host    string // its identity; empty: what it says
	Realm   string // Destination-Realm of what goes there
	// TLS returns the configuration of a connection; nil for plain TCP.
	TLS func() *tls.Config
}

// Config is what a Set is built from.
type Config struct {
	Identity diameter.Identity
	Peers    []Peer // the first that is well is asked
	// Timeout bounds dialling and the exchange of capabilities; default 5s.
	Timeout time.Duration
	// Watchdog is the time of silence after which a peer is asked whether it lives; default 30s
	// (RFC 3539 3.4.1).
	Watchdog time.Duration
	// Retry is the first wait before a lost peer is dialled again; it doubles up to MaxRetry.
	Retry, MaxRetry time.Duration
	// Dial opens the stream to a peer, without TLS; nil dials by TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Asked takes a server's request about a session: to ask again for it, or to end it. It reports
	// whether there is such a session, and must not block.
	Asked  func(session string, abort bool) bool
	Logger *slog.Logger
}

// Order is one request to be sent.
type Order struct {
	Request *charging.Request
	// Host is the server that has the session, Avoid one that is not to be asked where there is
	// another; both may be empty.
	Host, Avoid string
	Until       time.Time // when nobody waits for the answer any more
	// Done is called once, from any goroutine, and must not block.
	Done func(Reply)
}

// Reply is what became of an Order.
type Reply struct {
	Answered bool
	Answer   charging.Answer
	Host     string // who was asked, by its identity
	Sent     bool   // it may have arrived
}

// Status is how a peer stands.
type Status struct {
	Name, Address, Host string
	Up                  bool // it gets requests
	State               string
	Since               time.Time
	Fault               string // why it is not up
	Pending             int
	Sent, Answers, Lost uint64
}

// Set is the connections to all peers.
type Set struct {
	cfg   Config
	links []*link
	ids   atomic.Uint32
	done  sync.WaitGroup
	stop  context.CancelFunc
}

const (
	defaultTimeout  = 5 * time.Second
	defaultWatchdog = 30 * time.Second
	defaultRetry    = time.Second
	defaultMaxRetry = 30 * time.Second
)

// New returns a set without connections.
func New(cfg Config) *Set {
	orElse(&cfg.Timeout, defaultTimeout)
	orElse(&cfg.Watchdog, defaultWatchdog)
	orElse(&cfg.Retry, defaultRetry)
	orElse(&cfg.MaxRetry, defaultMaxRetry)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	if cfg.Asked == nil {
		cfg.Asked = func(string, bool) bool { return false }
	}
	s := &Set{cfg: cfg}
	// RFC 6733 3: "the high order 12 bits ... current time, the low order 20 bits random".
	var seed [4]byte
	_, _ = rand.Read(seed[:]) // never fails (crypto/rand)
	s.ids.Store(uint32(time.Now().Unix())<<20 | binary.BigEndian.Uint32(seed[:])&0xfffff)
	for _, p := range cfg.Peers {
		s.links = append(s.links, &link{set: s, peer: p, pending: make(map[uint32]pending), fault: "not yet connected", since: time.Now()})
	}
	return s
}

func orElse(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

// ID returns the identifier of a further request.
func (s *Set) ID() uint32 {
	for {
		if id := s.ids.Add(1); id != 0 {
			return id
		}
	}
}

// Start dials all peers, and again whenever one is lost.
func (s *Set) Start() {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	for _, l := range s.links {
		s.done.Go(func() { l.run(ctx) })
	}
}

// Stop says goodbye to all peers and waits until nothing runs.
func (s *Set) Stop() {
	if s.stop != nil {
		s.stop()
		s.done.Wait()
	}
}

// Send sends a request to the peer that is best for it, and returns who that is; empty for nobody.
// It does not block.
func (s *Set) Send(o Order) (host string) {
	l := s.choose(&o)
	if l == nil {
		o.Done(Reply{})
		return ""
	}
	host, ok := l.send(&o)
	if !ok {
		o.Done(Reply{})
	}
	return host
}

// choose picks the peer: the one that has the session, else the first that is well.
func (s *Set) choose(o *Order) *link {
	var best, avoided *link
	for _, l := range s.links {
		host, up := l.usable(o.Request.Kind.Online())
		switch {
		case !up:
		case host == o.Avoid && o.Avoid != "":
			avoided = l
		case host == o.Host && o.Host != "":
			return l
		case best == nil:
			best = l
		}
	}
	if best == nil {
		return avoided
	}
	return best
}

// Up reports whether any peer gets requests.
func (s *Set) Up() bool {
	for _, l := range s.links {
		if _, up := l.usable(true); up {
			return true
		}
		if _, up := l.usable(false); up {
			return true
		}
	}
	return false
}

// Status tells of all peers, in order.
func (s *Set) Status() []Status {
	list := make([]Status, 0, len(s.links))
	for _, l := range s.links {
		list = append(list, l.status())
	}
	return list
}
