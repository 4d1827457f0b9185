package cluster

import (
	"errors"
	"fmt"
	"net"
)

// sockets are what a node listens on, with the addresses that the others are told.
type sockets struct {
	streams         []net.Listener // interconnect, and raft when it has its own
	gossip          net.Listener
	packets         net.PacketConn
	beats           net.PacketConn // of the interconnect; nil when its UDP port is taken
	interconnect    string
	raft            string
	advertiseGossip string
}

// gossipTries is how often a free port for both UDP and TCP is sought.
const gossipTries = 10

func openSockets(cfg *Config) (s *sockets, err error) {
	s = &sockets{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()
	l, err := cfg.Network.Listen(cfg.Interconnect.Address)
	if err != nil {
		return s, fmt.Errorf("cluster: interconnect: %w", err)
	}
	s.streams = append(s.streams, l)
	s.interconnect = told(cfg.Interconnect, l.Addr())
	// Without it the streams alone judge who lives: good enough where nothing is lost.
	if s.beats, err = cfg.Network.ListenPacket(l.Addr().String()); err != nil {
		s.beats = nil
		cfg.Logger.Warn("no datagrams beside the interconnect's streams: its UDP port cannot be opened", "address", l.Addr().String(), "error", err)
	}
	s.raft = s.interconnect
	if cfg.Raft.Address != "" {
		l, err := cfg.Network.Listen(cfg.Raft.Address)
		if err != nil {
			return s, fmt.Errorf("cluster: raft: %w", err)
		}
		s.streams = append(s.streams, l)
		s.raft = told(cfg.Raft, l.Addr())
	}
	for try := 1; ; try++ {
		if s.gossip, err = cfg.Network.Listen(cfg.Gossip.Address); err != nil {
			return s, fmt.Errorf("cluster: gossip: %w", err)
		}
		// With port 0 the kernel chose a TCP port; UDP may be taken there.
		if s.packets, err = cfg.Network.ListenPacket(s.gossip.Addr().String()); err == nil {
			break
		}
		if try == gossipTries {
			return s, fmt.Errorf("cluster: gossip: %w", err)
		}
		// It is closed to be opened on another port.
		_ = s.gossip.Close()
	}
	s.advertiseGossip = told(cfg.Gossip, s.gossip.Addr())
	return s, nil
}

// told returns the address that the others are told.
func told(e Endpoint, bound net.Addr) string {
	if e.Advertise != "" {
		return e.Advertise
	}
	return bound.String()
}

func (s *sockets) close() error {
	var faults []error
	for _, l := range s.streams {
		faults = append(faults, l.Close())
	}
	if s.gossip != nil {
		faults = append(faults, s.gossip.Close())
	}
	if s.beats != nil {
		faults = append(faults, s.beats.Close())
	}
	if s.packets != nil {
		faults = append(faults, s.packets.Close())
	}
	return errors.Join(faults...)
}
