package simulation

import (
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/closing"
)

const (
	closeEvery = 5 * time.Second // between two looks at the calls of lost nodes
	closedLife = time.Hour       // of the count of a call's closings
	bindings   = 12              // registrations that nodes write
)

// shelf is a node's soft state: the replicated store, and what closes the calls
// of nodes that are gone (DEC-24).
type shelf struct {
	store  *soft.Store
	closer *closing.Closer
	up     map[string]string // entries of answered calls, by call id
}

func newShelf(n *node) shelf {
	if n.witness {
		return shelf{}
	}
	return shelf{
		store:  soft.New(soft.Config{Node: n.name, Boot: uint64(n.boot)}, n.now()),
		closer: closing.New(closing.Config{Node: n.name, Site: n.site}),
		up:     make(map[string]string),
	}
}

// flushSoft sends what the store has to say and looks at what changed.
func (n *node) flushSoft() {
	store := n.shelf.store
	if store == nil {
		return
	}
	for _, c := range store.Changes() {
		if c.Kind == soft.KindClosing && c.Reason == soft.Put {
			n.closedElsewhere(c.Key)
		}
	}
	for _, m := range store.Output() {
		x := n.w.nodeNamed(m.To)
		n.frame(x, m.Frame, func() {
			if err := x.shelf.store.Receive(x.now(), n.name, m.Frame); err != nil {
				n.w.fault("%s cannot read soft state of %s: %v: %x", x.name, n.name, err, m.Frame)
			}
		})
	}
}

// closings is how often survivors have closed a call.
func (n *node) closings(key string) int {
	e, ok := n.shelf.store.Get(soft.KindClosing, key)
	if !ok {
		return 0
	}
	return closing.ParseCount(e.Value)
}

// callUp makes an answered call known to all.
func (n *node) callUp(r *cdr.Record) {
	key := closing.Key(r.Kind, r.CallID)
	n.shelf.up[r.CallID] = key
	n.putCall(key, n.now().Sub(r.Answer), r.AppendBinary(nil))
}

func (n *node) putCall(key string, answered time.Duration, record []byte) {
	value := closing.AppendEntry(nil, n.closings(key), answered, record)
	if err := n.shelf.store.Put(n.now(), soft.KindCall, key, value, 0); err != nil {
		n.w.fault("%s cannot keep a call: %v", n.name, err)
	}
}

// callDown takes an answered call back.
func (n *node) callDown(id string) {
	key, ok := n.shelf.up[id]
	if !ok {
		n.w.fault("%s: call %s is down and was never up", n.name, id)
		return
	}
	delete(n.shelf.up, id)
	n.shelf.store.Delete(n.now(), soft.KindCall, key)
}

// closedElsewhere renews the entry of a call of ours that survivors have closed
// while we were cut off: should we die as well, it is to be closed once more.
func (n *node) closedElsewhere(key string) {
	e, ok := n.shelf.store.Get(soft.KindCall, key)
	if !ok || e.Owner != n.name || e.Boot != uint64(n.boot) {
		return
	}
	_, answered, record, err := closing.ParseEntry(e.Value)
	if err != nil {
		n.w.fault("%s: %v", n.name, err)
		return
	}
	n.putCall(key, answered+n.now().Sub(e.Since), record)
}

// closeCalls looks at the calls of processes that are gone.
func (n *node) closeCalls() {
	boot := n.boot
	n.w.after(closeEvery, func() {
		n.step(func() {
			if n.boot == boot {
				for _, o := range n.shelf.store.Origins() {
					if !o.Live && o.Node != n.name {
						n.closeCallsOf(o)
					}
				}
				n.closeCalls()
			}
		})
	})
}

func (n *node) closeCallsOf(o soft.Origin) {
	var live []closing.Node
	for _, x := range n.live() {
		live = append(live, closing.Node{Name: x.Name, Site: x.Site})
	}
	var list []soft.Entry
	n.shelf.store.EachOf(soft.KindCall, o.Node, o.Boot, func(e soft.Entry) bool {
		list = append(list, e)
		return true
	})
	now := n.now()
	for _, e := range list {
		call := closing.Call{Value: e.Value, Since: e.Since, Lost: o.Lost, Heard: o.Heard}
		verdict, r, err := n.shelf.closer.Decide(now, call, n.closings, live)
		if err != nil {
			n.w.fault("%s cannot close %s: %v", n.name, e.Key, err)
			continue
		}
		switch verdict {
		case closing.Write:
			n.w.records = append(n.w.records, r)
			n.w.sums.Closed++
			n.w.happened('c', n.index, []byte(e.Key))
			n.w.say("%s closes %s of %s, version %d", n.name, e.Key, o.Node, r.Version)
			value := closing.AppendCount(nil, closing.Closings(r))
			if err := n.shelf.store.Put(now, soft.KindClosing, e.Key, value, closedLife); err != nil {
				n.w.fault("%s cannot count a closing: %v", n.name, err)
			}
		case closing.Used:
			n.shelf.store.Drop(now, soft.KindCall, e.Key, o.Node, o.Boot)
		}
	}
}

// planBindings lets nodes write and remove registrations while things break.
func (w *world) planBindings() {
	r := w.users
	for range 3 * bindings {
		n, key, value := w.nodes[r.IntN(4)], "reg-"+strconv.Itoa(r.IntN(bindings)), strconv.Itoa(r.IntN(1000))
		remove := chance(r, 0.25)
		w.after(between(r, 0, w.plan.trouble.to), func() {
			n.step(func() {
				if remove {
					n.shelf.store.Delete(n.now(), soft.KindBinding, key)
				} else if err := n.shelf.store.Put(n.now(), soft.KindBinding, key, []byte(value), time.Hour); err != nil {
					w.fault("%s cannot keep a registration: %v", n.name, err)
				}
			})
		})
	}
}
