package app

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxKey bounds a key in octets.
const maxKey = 1024

// Hash implements admin.Hasher: it asks the function that calls are planned with.
func (d *desk) Hash(_ context.Context, q admin.HashQuestion) (admin.HashAnswer, error) {
	board := d.app.watch.monitor.Board()
	if board == nil {
		return admin.HashAnswer{}, fmt.Errorf("%w: no configuration in force", admin.ErrUnavailable)
	}
	g, site := board.Table.Group(q.Group), cmp.Or(q.Site, d.app.cfg.Site)
	switch {
	case g == nil:
		return admin.HashAnswer{}, noGroup(board.Table, q.Group)
	case !slices.Contains(board.Table.Sites(), site):
		return admin.HashAnswer{}, fmt.Errorf("%w: the document has no site %q", admin.ErrNotFound, site)
	case !g.Method.Hashes():
		return admin.HashAnswer{}, fmt.Errorf("%w: group %s distributes by %s, where no key decides; tandem explain shows its order", admin.ErrInvalid, g.Name, g.Method)
	}
	answer := admin.HashAnswer{Group: g.Name, Site: site, Method: g.Method.String(), By: g.Key.String(), Keys: []admin.Hashed{}}
	if g.Key == trunkgroup.KeyHeader {
		answer.By += ":" + g.KeyHeader
	}
	for _, key := range q.Keys {
		traits, err := traitsOf(g, key)
		if err != nil {
			return admin.HashAnswer{}, err
		}
		answer.Keys = append(answer.Keys, hashed(g, site, board.View, traits, key))
	}
	return answer, nil
}

// hashed is the order of one key.
func hashed(g *trunkgroup.Group, site string, v *trunkgroup.View, traits *trunkgroup.Traits, key string) admin.Hashed {
	h := admin.Hashed{Key: key, Order: []admin.HashedPlace{}}
	place := 0
	for _, c := range trunkgroup.Plan(nil, g, site, v, trunkgroup.Draw{Traits: traits}) {
		line := admin.HashedPlace{Member: c.Member.Key, Cause: c.Cause}
		if sum, ok := c.Member.Group.KeyHash(traits); ok && c.Member.Group.Method.Hashes() && c.Member.Group.Method != trunkgroup.HashMod {
			line.Score = v.Score(c.Member, c.Binding, sum)
		}
		if c.Dialable {
			place++
			line.Place, line.Address = place, c.Addr.String()
		}
		h.Order = append(h.Order, line)
	}
	return h
}

// sameHeader gives a key as the value of every header.
type sameHeader []byte

// HeaderValue implements trunkgroup.HeaderSource.
func (h sameHeader) HeaderValue(string) []byte { return h }

// traitsOf are those of a call whose key is the given one, whatever the group goes by.
func traitsOf(g *trunkgroup.Group, key string) (*trunkgroup.Traits, error) {
	if key == "" || len(key) > maxKey {
		return nil, fmt.Errorf("%w: a key is of 1 to %d octets", admin.ErrInvalid, maxKey)
	}
	b := []byte(key)
	t := &trunkgroup.Traits{CallID: b, From: b, To: b, RequestUser: b, AuthUser: b, Caller: b, Called: b, Headers: sameHeader(b)}
	if a, err := netip.ParseAddr(key); err == nil {
		t.Source = a.Unmap()
	} else if g.Key == trunkgroup.KeySourceIP {
		return nil, fmt.Errorf("%w: %q is no address, and group %s goes by the source address", admin.ErrInvalid, key, g.Name)
	}
	return t, nil
}
