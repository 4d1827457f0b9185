package gossip

import (
	"slices"
	"strings"
	"time"
)

// Publish makes this node's next record under key and keeps it. The returned batch
// is what other nodes' Receive takes; Spread sends it by gossip. An empty payload
// withdraws what was said before.
func (g *Gossip) Publish(key string, payload []byte) (batch []byte, err error) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	r := Record{Key: key, Observer: g.cfg.Node, Boot: g.cfg.Boot, Seq: g.seq + 1, Payload: payload, At: now}
	if err := r.check(); err != nil {
		return nil, err
	}
	g.seq++
	g.store.merge(r, now)
	return appendBatch(nil, now, &r), nil
}

// Spread sends the batch of one own record to all members by gossip.
func (g *Gossip) Spread(key string, batch []byte) {
	g.queue.QueueBroadcast(broadcast{name: g.cfg.Node + "\x00" + key, wire: batch})
}

// Own returns this node's own records in batches of about limit octets.
func (g *Gossip) Own(limit int) [][]byte {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	var batches [][]byte
	var batch []byte
	for id, r := range g.store.records {
		if id.observer != g.cfg.Node {
			continue
		}
		if len(batch) == 0 || len(batch) >= limit {
			if len(batch) > 0 {
				batches = append(batches, batch)
			}
			batch = []byte{recordsVersion}
		}
		batch = r.append(batch, now)
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	return batches
}

// Receive takes a batch that came on the stream of a node. Records of another observer in
// it are dropped: a node speaks for itself only. It only enqueues; the octets are copied.
func (g *Gossip) Receive(from string, batch []byte) {
	g.put(message{batch: slices.Clone(batch), from: from})
}

// Records returns all records by key and observer. The payloads are shared: do not
// change them.
func (g *Gossip) Records() []Record {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Record, 0, len(g.store.records))
	for _, r := range g.store.records {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Record) int {
		if c := strings.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return strings.Compare(a.Observer, b.Observer)
	})
	return list
}

func (g *Gossip) enqueue(b []byte, spread bool) {
	g.put(message{batch: slices.Clone(b), spread: spread})
}

func (g *Gossip) put(m message) {
	if len(m.batch) == 0 {
		return
	}
	select {
	case g.inbox <- m:
	default:
		g.dropped.Add(1)
	}
}

// work merges what came and calls back, until the node stops.
func (g *Gossip) work() {
	sweep := time.NewTicker(time.Minute)
	defer sweep.Stop()
	for {
		select {
		case <-g.ctx.Done():
			return
		case m := <-g.inbox:
			g.take(m)
		case <-g.membership:
			g.cfg.OnMembers(g.Members())
		case seen := <-g.stales:
			g.cfg.OnStaleBoot(seen)
		case now := <-sweep.C:
			g.mu.Lock()
			g.store.expire(now)
			g.mu.Unlock()
		}
	}
}

// take merges one batch and tells what is news.
func (g *Gossip) take(m message) {
	now := time.Now()
	var news []*Record
	g.mu.Lock()
	err := parseBatch(m.batch, now, func(r Record) {
		if r.Observer == g.cfg.Node && r.Boot > g.cfg.Boot {
			g.stale(r.Boot)
			return
		}
		if r.Observer == g.cfg.Node && r.Boot == g.cfg.Boot {
			return
		}
		if m.from != "" && r.Observer != m.from {
			g.forged.Add(1)
			return
		}
		if m.from == "" && g.cfg.Direct(r.Observer) {
			return
		}
		if kept, ok := g.store.merge(r, now); ok {
			news = append(news, kept)
		}
	})
	g.mu.Unlock()
	if err != nil {
		g.malformed.Add(1)
	}
	for _, r := range news {
		if m.spread {
			g.queue.QueueBroadcast(broadcast{name: r.Observer + "\x00" + r.Key, wire: appendBatch(nil, now, r)})
		}
		g.cfg.OnRecord(*r)
	}
}

// stale says that somebody knows a later boot of this node; it never blocks.
func (g *Gossip) stale(seen uint64) {
	select {
	case g.stales <- seen:
	default:
	}
}

func (g *Gossip) encode() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.store.encode(time.Now())
}
