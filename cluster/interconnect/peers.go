package interconnect

import (
	"maps"
	"time"
)

// SetPeers gives the whole list of nodes to connect to, from the configuration
// and from gossip; this node itself is skipped. A node that is no longer listed is
// kept while it is up and for the time of Config.Forget after it was lost, and so
// is a node that dialled this one and was never listed.
func (i *Interconnect) SetPeers(list []Endpoint) {
	listed := make(map[string]Endpoint, len(list))
	for _, e := range list {
		if e.Name != i.cfg.Node && e.Name != "" && e.Address != "" {
			listed[e.Name] = e
		}
	}
	for name, p := range *i.peers.Load() {
		if _, ok := listed[name]; !ok {
			p.setListed(false)
		}
	}
	for _, e := range listed {
		i.ensure(e, true)
	}
	i.publish()
}

// Drop has a peer that is lost and not in SetPeers' list forgotten at its next dial,
// which comes at once.
func (i *Interconnect) Drop(name string) {
	p, ok := (*i.peers.Load())[name]
	if !ok {
		return
	}
	p.mu.Lock()
	p.dropped = !p.listed
	p.mu.Unlock()
	p.dialNow()
}

// ensure returns the peer of that name and makes it when it is new.
func (i *Interconnect) ensure(e Endpoint, listed bool) *peer {
	i.mu.Lock()
	old := *i.peers.Load()
	p, ok := old[e.Name]
	if !ok {
		p = newPeer(i, e, time.Now())
		fresh := maps.Clone(old)
		fresh[e.Name] = p
		i.peers.Store(&fresh)
	}
	i.mu.Unlock()
	p.update(e, listed)
	if !ok {
		i.launch(p)
	}
	return p
}

// launch starts the peer's own goroutine, once Start was called.
func (i *Interconnect) launch(p *peer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped || !i.started || p.launched {
		return
	}
	p.launched = true
	i.wg.Go(func() { p.run(i.ctx) })
}

// forget removes a peer that nobody lists and that stayed away.
func (i *Interconnect) forget(p *peer) {
	p.mu.Lock()
	session := p.beside.in.id
	p.mu.Unlock()
	i.mu.Lock()
	fresh := maps.Clone(*i.peers.Load())
	delete(fresh, p.name)
	i.peers.Store(&fresh)
	if i.sessions[session] == p {
		delete(i.sessions, session)
	}
	i.mu.Unlock()
	i.publish()
}
