package interconnect

import (
	"context"
	"net"

	"github.com/tandem-sbc/tandem/cluster/hello"
)

// Inquire asks a node for the highest boot number of cfg.Node that it has seen, 0
// when none (DEC-13: a node whose data is lost starts above it). It needs no boot
// number and no listener of its own.
func Inquire(ctx context.Context, cfg Config, e Endpoint) (seen uint64, err error) {
	// What only a running interconnect needs is set to pass the check.
	cfg.Boot, cfg.Listeners = 1, []net.Listener{noListener{}}
	i, err := New(cfg)
	if err != nil {
		return 0, err
	}
	defer i.cancel()
	id := i.identity
	id.Boot = 0
	conn, remote, err := i.dial(ctx, id, e.Address, hello.Inquire, e.Name)
	if err != nil {
		return 0, err
	}
	return remote.Seen, conn.Close()
}

// noListener stands for a listener that is never used.
type noListener struct{ net.Listener }
