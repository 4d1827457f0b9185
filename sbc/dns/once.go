package dns

import (
	"context"
	"net/netip"
)

// Lookup looks a target up now, for who cannot wait for the background: its published
// addresses when it is watched and has some, else what the servers say within ctx. An
// error says why there is no address.
func (r *Resolver) Lookup(ctx context.Context, t Target) ([]netip.AddrPort, error) {
	if addrs := r.Addrs(t); len(addrs) > 0 {
		return addrs, nil
	}
	result := (&lookup{target: t}).run(ctx, r)
	switch {
	case len(result.addrs) > 0:
		return result.addrs, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case result.err != nil:
		return nil, result.err
	}
	return nil, errNoAddress
}
