package app

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/guard"
)

// count takes what the engine saw of digests.
func (d *doors) count(e *b2bua.Event) {
	switch e.Kind {
	case b2bua.EventAuthenticated:
		d.guard.Proved(e.Source.Addr(), time.Now())
	case b2bua.EventAuthFailure:
		switch e.Reason {
		case auth.ReasonNonce, auth.ReasonExpired, auth.ReasonReplay:
			return // the secret was right
		}
		d.guard.Refused(time.Now(), e.Source.Addr(), e.Proven)
	}
}

// registered takes the address of a binding of this node or of another one.
func (d *doors) registered(a netip.Addr, until time.Time) {
	if a.IsValid() {
		d.guard.Registered(a, until)
	}
}

// ban puts a ban in force here and tells the other nodes. An error means that those
// do not know of it.
func (d *doors) ban(b guard.Ban) error {
	d.makeRoom(time.Now())
	var err error
	d.soft.Do(func(now time.Time, store *soft.Store) {
		err = store.Put(now, soft.KindBan, b.Prefix.String(), b.AppendValue(nil), b.Until.Sub(b.Since))
		d.guard.Ban(b)
	})
	if err != nil {
		d.untold.Add(1)
	}
	closed := d.enforce(b)
	d.log.Warn("source banned", "prefix", b.Prefix.String(), "reason", b.Reason, "by", b.By,
		"until", b.Until.UTC().Format(time.RFC3339), "for", b.Until.Sub(b.Since).String(), "connections_closed", closed)
	return err
}

// enforce closes what the banned source has open, and tells the kernel. Whoever is
// spared keeps his connections, as he may come in.
func (d *doors) enforce(b guard.Ban) (closed int) {
	now := time.Now()
	closed = d.shut(b.Prefix, func(a netip.Addr) bool {
		_, banned := d.guard.Banned(a, now)
		return !banned
	})
	if !d.spares(&b) {
		d.offload.add(b.Prefix, b.Until.Sub(now))
	}
	return closed
}

// lift takes a ban back, everywhere; false when there is none.
func (d *doors) lift(p netip.Prefix) (found bool) {
	d.soft.Do(func(now time.Time, store *soft.Store) {
		store.Delete(now, soft.KindBan, p.String())
		found = d.guard.Lift(p)
	})
	d.pardon(p)
	return found
}

func (d *doors) pardon(p netip.Prefix) {
	d.mu.Lock()
	d.judge.Pardoned(p)
	d.mu.Unlock()
	d.offload.remove(p)
}

// makeRoom ends automatic bans early, those that end first, when there are too many.
func (d *doors) makeRoom(now time.Time) {
	most := d.app.cfg.Doors.Ban.Entries
	for d.guard.Count() >= most {
		d.guard.Sweep(now)
		var first guard.Ban
		for _, b := range d.guard.Bans(now) {
			if b.Auto && (first.Until.IsZero() || b.Until.Before(first.Until)) {
				first = b
			}
		}
		if first.Until.IsZero() {
			return // all are an operator's
		}
		d.soft.Do(func(now time.Time, store *soft.Store) {
			store.Delete(now, soft.KindBan, first.Prefix.String())
			d.guard.Lift(first.Prefix)
		})
		d.offload.remove(first.Prefix)
	}
}

// changed takes news of bans that other nodes or time have changed.
func (d *doors) changed(changes []soft.Change) {
	for i := range changes {
		if changes[i].Kind == soft.KindBan {
			d.look(changes[i].Key, changes[i].Reason)
		}
	}
}

// look brings the guard to what the soft state says of a prefix: under its lock, so
// that it cannot go back in time.
func (d *doors) look(key string, why soft.Reason) {
	p, err := netip.ParsePrefix(key)
	if err != nil {
		return
	}
	var b guard.Ban
	found := false
	d.soft.Do(func(_ time.Time, store *soft.Store) {
		e, ok := store.Get(soft.KindBan, key)
		if !ok {
			d.guard.Lift(p)
			return
		}
		if b, err = guard.ParseBan(key, e.Value); err != nil {
			d.log.Debug("a ban of another node is of no use", "peer", e.Owner, "error", err)
			return
		}
		found = true
		b.Since, b.Until = e.Since, e.Expires
		d.guard.Ban(b)
	})
	switch {
	case found:
		d.mu.Lock()
		d.judge.Banned(b)
		d.mu.Unlock()
		closed := d.enforce(b)
		d.app.auditBan(&b)
		d.log.Debug("a ban of another node is in force", "prefix", key, "made_at", b.Node, "reason", b.Reason, "connections_closed", closed)
	case why == soft.Deleted:
		d.pardon(p) // somebody lifted it
	default:
		d.offload.remove(p)
	}
}
