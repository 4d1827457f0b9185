package app

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/sbc"
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/registry"
)

// registrations keeps the bindings of the cluster in the soft state, and this
// node's index of them. The index is written under the lock of the soft state
// alone, and always to what that one says now: it cannot go back in time.
type registrations struct {
	soft       *cluster.Soft
	index      *registry.Registry
	doors      *doors
	log        *slog.Logger
	unreadable atomic.Uint64 // bindings of other nodes that are not understood
	full       atomic.Uint64 // bindings that found no room
	refused    refusals      // REGISTERs that were refused here
}

func newRegistrations(a *App) *registrations {
	r := &registrations{
		soft: a.soft, doors: a.doors, log: a.log.With("component", "registrations"),
		index: registry.New(registrar.Node{Name: a.cfg.Name, Site: a.cfg.Site, Boot: uint32(a.node.Boot())}),
	}
	a.soft.OnChange(r.changed)
	return r
}

// Index implements sbc.Bindings.
func (r *registrations) Index() *registry.Registry { return r.index }

// Update implements sbc.Bindings.
func (r *registrations) Update(fn func(now time.Time, tx sbc.BindingChanges)) {
	r.soft.Do(func(now time.Time, store *soft.Store) { fn(now, bindingChanges{r, store, now}) })
}

// bindingChanges implements sbc.BindingChanges under the lock of the store.
type bindingChanges struct {
	r     *registrations
	store *soft.Store
	now   time.Time
}

func (c bindingChanges) Put(rec *registrar.Record) error {
	since := c.now
	if rec.Gone() && !rec.Taken.IsZero() {
		since = rec.Taken // the end of a connection is no newer than its REGISTER
	}
	value := rec.Append(make([]byte, 0, 512), since)
	if err := c.store.PutOf(c.now, since, soft.KindBinding, rec.Key(), value, rec.Expires.Sub(c.now)); err != nil {
		c.r.full.Add(1)
		return err
	}
	c.r.set(rec)
	return nil
}

func (c bindingChanges) Remove(rec *registrar.Record) {
	c.store.Delete(c.now, soft.KindBinding, rec.Key())
	c.r.index.Remove(rec.AOR, rec.ID)
}

// changed takes news of bindings that other nodes or time have changed.
func (r *registrations) changed(changes []soft.Change) {
	n := 0
	for i := range changes {
		if changes[i].Kind == soft.KindBinding {
			n++
		}
	}
	if n == 0 {
		return
	}
	r.soft.Do(func(_ time.Time, store *soft.Store) {
		for i := range changes {
			if changes[i].Kind == soft.KindBinding {
				r.look(store, changes[i].Key)
			}
		}
	})
}

// look brings the index to what the store says of a key.
func (r *registrations) look(store *soft.Store, key string) {
	e, ok := store.Get(soft.KindBinding, key)
	if ok {
		rec, err := registrar.ParseRecord(metaOf(&e), e.Value)
		if err == nil {
			r.set(rec)
			return
		}
		r.unreadable.Add(1)
		r.log.Debug("a binding of another node is of no use", "peer", e.Owner, "error", err)
	}
	if aor, id, ok := registrar.SplitKey(key); ok {
		r.index.Remove(aor, id)
	}
}

// set enters a binding. The doors know its address for as long as it stands.
func (r *registrations) set(rec *registrar.Record) {
	r.index.Set(rec)
	r.doors.registered(rec.Addr.Addr(), rec.Expires)
}

func metaOf(e *soft.Entry) registrar.Meta {
	return registrar.Meta{Key: e.Key, Node: e.Owner, Boot: uint32(e.Boot), Taken: e.Since, Expires: e.Expires}
}

// peers gives the index what the engine knows of the other nodes.
func (r *registrations) peers(list []sbc.Peer) {
	nodes := make([]registry.Node, len(list))
	for i, p := range list {
		nodes[i] = registry.Node{Name: p.Name, Site: p.Site, Boot: p.Boot, Up: p.Up, Witness: p.Witness}
	}
	r.index.SetPeers(nodes)
}
