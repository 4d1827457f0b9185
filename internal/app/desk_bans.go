package app

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/guard"
)

// The widest networks that are banned without force.
const (
	widest4 = 24
	widest6 = 48
)

// Bans implements admin.Bans.
func (d *desk) Bans(context.Context) (admin.BanList, error) {
	doors := d.app.doors
	list := admin.BanList{Node: d.app.cfg.Name, Bans: []admin.Ban{}}
	for _, b := range doors.guard.Bans(time.Now()) {
		list.Bans = append(list.Bans, banLine(b))
	}
	if n := doors.offload.failures(); n > 0 {
		list.Note = fmt.Sprintf("the kernel refused %d changes of its sets since the start; the log says why, and the bans hold in this program all the same", n)
	}
	return list, nil
}

func banLine(b guard.Ban) admin.Ban {
	return admin.Ban{
		Prefix: b.Prefix.String(), Auto: b.Auto, Reason: b.Reason, By: b.By, Node: b.Node, Since: b.Since, Until: b.Until, Before: b.Level,
	}
}

// AddBan implements admin.Bans.
func (d *desk) AddBan(_ context.Context, o admin.BanOrder) (admin.Ban, error) {
	p, err := prefixOf(o.Prefix)
	if err != nil {
		return admin.Ban{}, err
	}
	if err := d.mayBan(p, o.Force); err != nil {
		return admin.Ban{}, err
	}
	now := time.Now()
	b := guard.Ban{
		Prefix: p, Reason: cmp.Or(o.Reason, "none given"), By: cmp.Or(o.Author, "unknown"), Node: d.app.cfg.Name,
		Since: now, Until: now.Add(time.Duration(o.Seconds) * time.Second),
	}
	if err := d.app.doors.ban(b); err != nil {
		return admin.Ban{}, fmt.Errorf("%w: the ban holds on this node only: %w", admin.ErrUnavailable, err)
	}
	return banLine(b), nil
}

// mayBan refuses what would shut out whom nobody wants to shut out.
func (d *desk) mayBan(p netip.Prefix, force bool) error {
	allowed, far := d.app.doors.guard.Spared(p)
	if len(allowed) > 0 {
		return fmt.Errorf("%w: %s is on doors.allow of this node, which is never banned", admin.ErrRefused, networks(allowed))
	}
	widest := widest6
	if p.Addr().Is4() {
		widest = widest4
	}
	switch {
	case force:
	case p.Bits() < widest:
		return fmt.Errorf("%w: %s is wider than /%d; say it with --force if so many shall be shut out", admin.ErrRefused, p, widest)
	case d.app.doors.peers(p):
		return fmt.Errorf("%w: there are nodes of the cluster in %s; say it with --force if what calls from there shall be shut out", admin.ErrRefused, p)
	case len(far) > 0:
		return fmt.Errorf("%w: trunk groups have far ends at %s; say it with --force if they shall be shut out", admin.ErrRefused, networks(far))
	}
	return nil
}

// networks names the first few of a list.
func networks(list []netip.Prefix) string {
	var names []string
	for i, p := range list {
		if i == 3 {
			names = append(names, "...")
			break
		}
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// RemoveBan implements admin.Bans.
func (d *desk) RemoveBan(_ context.Context, o admin.BanRemoval) (admin.Ban, error) {
	p, err := prefixOf(o.Prefix)
	if err != nil {
		return admin.Ban{}, err
	}
	for _, b := range d.app.doors.guard.Bans(time.Now()) {
		if b.Prefix == p {
			d.app.doors.lift(p)
			d.app.log.Info("ban lifted", "prefix", p.String(), "by", cmp.Or(o.Author, "unknown"))
			return banLine(b), nil
		}
	}
	return admin.Ban{}, fmt.Errorf("%w: there is no ban of %s; the list shows those that there are", admin.ErrNotFound, p)
}

// prefixOf reads an address or a network.
func prefixOf(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" { // a zone means nothing at the other nodes
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err == nil && p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("%w: %s is an address within a network: write %s for all of it, %s for the address alone",
			admin.ErrInvalid, text, p.Masked(), p.Addr())
	}
	if err != nil || p.Addr().Is4In6() || p.Bits() == 0 {
		return netip.Prefix{}, fmt.Errorf("%w: %q is no address and no network; write it like 198.51.100.7 or 198.51.100.0/28", admin.ErrInvalid, text)
	}
	return p, nil
}
