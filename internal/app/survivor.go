package app

import (
	"time"

	"github.com/tandem-sbc/tandem/cdr"
	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/closing"
)

const (
	// closeBatch bounds the calls of dead nodes that are looked at in one turn.
	closeBatch = 4096
	// closingTTL is for how long nodes remember that a call was closed. It is longer
	// than any cut through which a call can stay up.
	closingTTL = 24 * time.Hour
)

// wroteRecord is a record of a dead node's call on its way to the disk.
type wroteRecord struct {
	mark   uint64
	call   processCall
	record *cdr.Record
}

// candidate is the entry of a call of a dead process.
type candidate struct {
	call  processCall
	entry closing.Call
}

// close writes the records of calls whose node is gone, those that are this node's to
// write.
func (b *callBook) close(now time.Time) {
	if b.app.watch.monitor.Isolated() {
		return // it is this node that is gone (DEC-12)
	}
	list, closings := b.candidates(now)
	if len(list) == 0 {
		return
	}
	live := b.live()
	count := func(key string) int { return closings[key] }
	var used []processCall
	wrote := map[process]int{}
	for _, c := range list {
		verdict, r, err := b.closer.Decide(now, c.entry, count, live)
		if err != nil {
			b.log.Warn("the entry of a call cannot be read; its record cannot be closed", "owner", c.call.node, "call_id", c.call.id, "error", err)
		}
		switch verdict {
		case closing.Used:
			used = append(used, c.call)
		case closing.Write:
			r.Cluster = b.app.cfg.Cluster.ID
			if !b.records.Write(r) {
				continue // the disk is behind; the log of records says so
			}
			b.taken[c.call] = true
			b.wrote = append(b.wrote, wroteRecord{b.records.Mark(), c.call, r})
			b.closed.Add(1)
			wrote[c.call.process]++
		}
	}
	for p, n := range wrote {
		b.log.Warn("records of calls closed for a node that is gone", "owner", p.node, "owner_boot", p.boot, "calls", n)
	}
	if len(used) > 0 {
		b.soft.Do(func(now time.Time, store *soft.Store) {
			for _, c := range used {
				store.Drop(now, soft.KindCall, c.id, c.node, c.boot)
			}
		})
	}
}

// candidates lists calls of processes that have been gone for long enough, with how
// often calls were closed by survivors.
func (b *callBook) candidates(now time.Time) (list []candidate, closings map[string]int) {
	present := map[process]bool{}
	for _, m := range b.app.node.Members() {
		present[process{m.Name, m.Meta.Boot}] = true
	}
	b.soft.Do(func(_ time.Time, store *soft.Store) {
		dead := map[process]time.Time{}
		for _, o := range store.Origins() {
			p := process{o.Node, o.Boot}
			if o.Live || present[p] || o.Entries == 0 {
				continue // gossip may reach a node that the interconnect does not
			}
			since, ok := b.dead[p]
			if !ok {
				since = now
			}
			dead[p] = since
			if !now.Before(b.closer.Due(since)) {
				list = b.append(list, store, o, since)
			}
		}
		b.dead = dead
		if len(list) > 0 {
			closings = map[string]int{}
			store.Each(soft.KindClosing, func(e soft.Entry) bool {
				closings[e.Key] = closing.ParseCount(e.Value)
				return true
			})
		}
	})
	return list, closings
}

func (b *callBook) append(list []candidate, store *soft.Store, o soft.Origin, since time.Time) []candidate {
	store.EachOf(soft.KindCall, o.Node, o.Boot, func(e soft.Entry) bool {
		call := processCall{process{o.Node, o.Boot}, e.Key}
		if !b.taken[call] {
			list = append(list, candidate{call, closing.Call{Value: e.Value, Since: e.Since, Lost: since, Heard: o.Heard}})
		}
		return len(list) < closeBatch
	})
	return list
}

// live lists the nodes that can close records.
func (b *callBook) live() []closing.Node {
	witness := map[string]bool{}
	for _, m := range b.app.node.Members() {
		witness[m.Name] = m.Meta.Witness
	}
	list := []closing.Node{{Name: b.app.cfg.Name, Site: b.app.cfg.Site}}
	for _, p := range b.app.node.Peers() {
		if p.Up && !witness[p.Name] {
			list = append(list, closing.Node{Name: p.Name, Site: p.Site})
		}
	}
	return list
}

// tell says to the others that a record is on disk; its entry has served its purpose.
func (b *callBook) tell(now time.Time, store *soft.Store, w wroteRecord) {
	delete(b.taken, w.call)
	key := closing.Key(w.record.Kind, w.record.CallID)
	if err := store.Put(now, soft.KindClosing, key, closing.AppendCount(nil, closing.Closings(w.record)), closingTTL); err != nil {
		b.log.Warn("that a call's record was closed cannot be told: another node may write it as well", "call_id", w.call.id, "error", err)
	}
	store.Drop(now, soft.KindCall, w.call.id, w.call.node, w.call.boot)
}
