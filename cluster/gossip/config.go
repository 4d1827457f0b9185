package gossip

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/tandem-sbc/tandem/cluster/dialmap"
	"github.com/tandem-sbc/tandem/cluster/keyring"
)

// Config says who this node is and how it meets the others. It must not be
// changed after New.
type Config struct {
	Cluster string
	Node    string
	Boot    uint64
	Keys    *keyring.Keyring

	// Packets and Streams are the UDP and TCP sockets of one port; the Gossip closes
	// them.
	Packets net.PacketConn
	Streams net.Listener
	// Advertise is the host:port at which the others reach both.
	Advertise string
	// DialMap says which addresses are reached through a relay.
	DialMap dialmap.Map
	// Dial opens a TCP connection; nil means net.Dialer.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Seeds are gossip addresses (host:port) that are dialled while they are missing.
	Seeds []string
	// Rejoin is the time between such dials; 0 means 10 s.
	Rejoin time.Duration

	// Meta is what the node tells of itself at first.
	Meta Meta
	// OnRecord is told of each record of another node that is news. It runs on one
	// goroutine and may block for a short time only. Nil means nobody.
	OnRecord func(Record)
	// OnMembers is told of the whole membership after each change, on the same
	// goroutine. Nil means nobody.
	OnMembers func([]Member)
	// Direct reports whether an observer's records come by a stream on which its name is
	// proven: what gossip brings of them, under a key that all share, is then left aside. It must
	// not call back. Nil means never.
	Direct func(observer string) bool
	// OnStaleBoot is told when a record or a member of this node's own name shows a
	// boot number that is not below its own (DEC-13). Nil means nobody.
	OnStaleBoot func(seen uint64)

	Logger *slog.Logger // nil means silence
}

// gossipLabel derives the key of the packets.
const gossipLabel = "tandem gossip v1"

func (c *Config) withDefaults() (Config, error) {
	d := *c
	var faults []error
	for _, f := range []struct {
		missing bool
		field   string
	}{
		{d.Cluster == "", "Cluster"},
		{d.Node == "", "Node"},
		{d.Keys == nil, "Keys"},
		{d.Packets == nil || d.Streams == nil, "Packets or Streams"},
		{d.Advertise == "", "Advertise"},
	} {
		if f.missing {
			faults = append(faults, errors.New("gossip: "+f.field+" is not set"))
		}
	}
	if d.Dial == nil {
		d.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	if d.Rejoin == 0 {
		d.Rejoin = 10 * time.Second
	}
	if d.OnRecord == nil {
		d.OnRecord = func(Record) {}
	}
	if d.Direct == nil {
		d.Direct = func(string) bool { return false }
	}
	if d.OnMembers == nil {
		d.OnMembers = func([]Member) {}
	}
	if d.OnStaleBoot == nil {
		d.OnStaleBoot = func(uint64) {}
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	return d, errors.Join(faults...)
}
