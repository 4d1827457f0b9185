package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// Settings say where the API answers. The zero value of a field means its default.
type Settings struct {
	// Network is "unix" or "tcp", Address the path or ip:port.
	Network, Address string
	// Token must be presented by clients, except for /livez, /readyz and /metrics. Without one a TCP address must be of loopback.
	Token string
	// Probes is a further address that answers /livez, /readyz, /metrics and service discovery only; the zero value for none.
	Probes netip.AddrPort
	// Remote is a further address that answers the whole API over RemoteTLS; the zero value for none. Each
	// request there needs Token, or without one a client certificate that RemoteTLS has verified.
	Remote    netip.AddrPort
	RemoteTLS *tls.Config
	// Mode is the file mode of a unix socket. Default 0660.
	Mode fs.FileMode
	// MaxDocument bounds a cluster document in bytes. Default 64 MiB.
	MaxDocument int64
	// Version of the program, for the API's description.
	Version string
	Backend Backend
	// Audit gets each change that was asked for, with what became of it. Optional.
	Audit  func(Audited)
	Logger *slog.Logger
}

// maxConns bounds the open connections of each listener.
const maxConns = 256

// Server answers the API.
type Server struct {
	cfg       Settings
	listeners []net.Listener
	servers   []*http.Server
	probing   net.Listener // of Probes; nil for none
	faults    *faultLog
	wg        sync.WaitGroup
}

// New binds the addresses. Nothing is answered before Start.
func New(cfg Settings) (*Server, error) {
	if cfg.Mode == 0 {
		cfg.Mode = 0o660
	}
	if cfg.MaxDocument <= 0 {
		cfg.MaxDocument = 64 << 20
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, faults: &faultLog{Handler: cfg.Logger.Handler(), now: time.Now}}
	mux := http.NewServeMux()
	s.probes(mux)
	s.register(mux)
	l, err := s.listen()
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	s.add(l, s.guard(s.audited(mux)))
	if cfg.Remote.IsValid() {
		l, err := net.Listen("tcp", cfg.Remote.String())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("admin: remote: %w", err), s.unbind())
		}
		// TLS is the outermost: the server must see whose certificate a connection has.
		s.serve(tls.NewListener(netutil.LimitListener(l, maxConns), cfg.RemoteTLS), s.guardRemote(s.audited(mux)))
	}
	if cfg.Probes.IsValid() {
		l, err := net.Listen("tcp", cfg.Probes.String())
		if err != nil {
			return nil, errors.Join(fmt.Errorf("admin: probes: %w", err), s.unbind())
		}
		mux := http.NewServeMux()
		s.probes(mux)
		s.discovery(mux)
		s.probing = l
		s.add(l, mux)
	}
	return s, nil
}

// unbind gives up what New has bound.
func (s *Server) unbind() error {
	var err error
	for _, l := range s.listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

// listen binds the API's own address.
func (s *Server) listen() (net.Listener, error) {
	switch s.cfg.Network {
	case "tcp":
		a, err := netip.ParseAddrPort(s.cfg.Address)
		if err != nil {
			return nil, err
		}
		if s.cfg.Token == "" && !a.Addr().IsLoopback() {
			return nil, fmt.Errorf("%s is no loopback address: that needs a token", a)
		}
		return net.Listen("tcp", s.cfg.Address)
	case "unix":
		return listenUnix(s.cfg.Address, s.cfg.Mode)
	}
	return nil, fmt.Errorf("unknown network %q", s.cfg.Network)
}

// listenUnix binds a socket file, in place of one that a dead process left behind.
func listenUnix(path string, mode fs.FileMode) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			return nil, errors.Join(fmt.Errorf("%s: another process answers there", path), c.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the directory %s must be there", err, filepath.Dir(path))
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// add makes a server for a listener without TLS.
func (s *Server) add(l net.Listener, h http.Handler) { s.serve(netutil.LimitListener(l, maxConns), h) }

// serve makes a server for a listener. Its deadlines keep a slow client from holding anything for long.
func (s *Server) serve(l net.Listener, h http.Handler) {
	s.listeners = append(s.listeners, l)
	s.servers = append(s.servers, &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       60 * time.Second,
		WriteTimeout:      90 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.faults, slog.LevelWarn),
	})
}

// Start begins to answer.
func (s *Server) Start() {
	for i, srv := range s.servers {
		s.wg.Go(func() {
			if err := srv.Serve(s.listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				s.cfg.Logger.Error("the admin API stopped", "address", s.listeners[i].Addr().String(), "error", err)
			}
		})
	}
}

// Addr is where the API answers.
func (s *Server) Addr() net.Addr { return s.listeners[0].Addr() }

// ProbesAddr is where /livez, /readyz and /metrics answer beside the API; nil for nowhere.
func (s *Server) ProbesAddr() net.Addr {
	if s.probing == nil {
		return nil
	}
	return s.probing.Addr()
}

// Stop answers what was asked, as far as ctx allows, and closes everything. It may be called without Start.
func (s *Server) Stop(ctx context.Context) error {
	var faults []error
	for i, srv := range s.servers {
		if err := srv.Shutdown(ctx); err != nil {
			faults = append(faults, err, srv.Close())
		}
		// A listener that was never served is not known to its server.
		if err := s.listeners[i].Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			faults = append(faults, err)
		}
	}
	s.wg.Wait()
	return errors.Join(faults...)
}
