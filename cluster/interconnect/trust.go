package interconnect

import (
	"errors"
	"maps"
	"time"

	"github.com/tandem-sbc/tandem/cluster/hello"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// trust is what this node proves itself by and judges others by. It is replaced
// whole.
type trust struct {
	keys     *keyring.Keyring
	identity *pki.Identity // nil: no TLS
	plain    bool          // streams without TLS are taken although there is an identity
}

// Times of the review.
const (
	// reviewInterval is the time between two looks at the streams that stand.
	reviewInterval = time.Minute
	// renewAfter is the age at which a stream between peers is made anew: its keys are
	// fresh, its certificates are judged again, and AES-GCM stays far from the number
	// of records that one key is good for (RFC 8446 section 5.5).
	renewAfter = time.Hour
	// grace is how long a stream that may not stand is left to be renewed: its own side may have moved on already,
	// and what this node remembers of it be old.
	grace = 3 * time.Second
	// raftLife is the age at which another stream is closed; who needs it dials again.
	raftLife = 24 * time.Hour
)

// SetKeys replaces the cluster secrets. Streams that were proven by a secret which is
// gone are closed; those by another one than the new primary are made anew beside the
// standing ones, so that no peer is lost by it.
func (i *Interconnect) SetKeys(k *keyring.Keyring) {
	i.change(func(t *trust) { t.keys = k })
}

// SetIdentity replaces the certificate of this node and the authorities that it trusts;
// plain says whether streams without TLS are still taken. Streams whose certificate is of an
// authority that is gone are closed, and so are plain ones unless they may stay. That a
// certificate expires closes nothing: calls matter more, and the stream's renewal tells.
func (i *Interconnect) SetIdentity(id *pki.Identity, plain bool) {
	i.change(func(t *trust) { t.identity, t.plain = id, plain })
}

func (i *Interconnect) change(set func(*trust)) {
	i.mu.Lock()
	next := *i.trust.Load()
	set(&next)
	i.trust.Store(&next)
	i.mu.Unlock()
	i.review(time.Now())
}

// keys are the cluster secrets of the moment.
func (i *Interconnect) keys() *keyring.Keyring { return i.trust.Load().keys }

// reviewLoop looks at the streams again and again.
func (i *Interconnect) reviewLoop() {
	tick := time.NewTicker(reviewInterval)
	defer tick.Stop()
	for {
		select {
		case <-i.ctx.Done():
			return
		case <-tick.C:
			i.review(time.Now())
		}
	}
}

// review closes the streams that would not be taken any more and has those renewed
// that were proven by what is not the first choice any more.
func (i *Interconnect) review(now time.Time) {
	t := i.trust.Load()
	i.mu.Lock()
	links := maps.Clone(i.links)
	i.mu.Unlock()
	fresh := false
	for l := range links {
		why := t.refuses(l, now)
		switch {
		case why == "":
			l.condemned.Store(0)
		case l.condemned.CompareAndSwap(0, now.UnixNano()):
			fresh = true
		case now.UnixNano()-l.condemned.Load() >= int64(grace):
			i.cfg.Logger.Warn("stream closed", "peer", l.peer, "purpose", l.purpose.String(), "reason", why)
			_ = l.Close()
		}
	}
	if fresh {
		time.AfterFunc(grace, func() {
			if i.ctx.Err() == nil {
				i.review(time.Now())
			}
		})
	}
	for _, p := range *i.peers.Load() {
		s := p.out.Load()
		if s == nil {
			continue
		}
		if l, ok := s.conn.(*link); ok && (t.outdated(l, now) || t.refuses(l, now) != "") {
			p.renewNow()
		}
	}
}

// refuses says why a stream may not stand, or nothing.
func (t *trust) refuses(l *link, now time.Time) string {
	switch {
	case !t.keys.Has(l.key):
		return "the cluster key that proved it, " + l.key.String() + ", was removed"
	case t.identity == nil:
		return ""
	case l.chain == nil && !t.plain:
		return "it is without TLS"
	case l.chain != nil && !t.identity.Trusts(l.chain):
		return "its certificate is of an authority that is not trusted any more"
	case l.purpose != hello.Interconnect && now.Sub(l.born) > raftLife:
		return "it is old"
	}
	return ""
}

// outdated reports whether a stream to a peer should be made anew.
func (t *trust) outdated(l *link, now time.Time) bool {
	switch {
	case l.key != t.keys.Primary(), now.Sub(l.born) > renewAfter:
		return true
	case t.identity == nil:
		return l.chain != nil
	}
	return l.chain == nil || !l.own.Equal(t.identity.Leaf())
}

// errJoin marks a stream of somebody who was not admitted.
var errJoin = errors.New("interconnect: nobody was admitted")

// graveErrors are what an operator must act on.
func graveErrors() []error {
	return []error{
		hello.ErrKey, hello.ErrCluster, hello.ErrIdentity, hello.ErrSelf, hello.ErrBoot, hello.ErrVersion, hello.ErrForged, hello.ErrTLS,
		pki.ErrAuthority, pki.ErrCluster, pki.ErrName, pki.ErrExpired, pki.ErrNotYet, pki.ErrRefused, pki.ErrNone, pki.ErrPlain,
	}
}

// grave reports whether err is a matter of keys and names, and not of reachability.
func grave(err error) bool {
	for _, g := range graveErrors() {
		if errors.Is(err, g) {
			return true
		}
	}
	return false
}

// reason is the word for a refused stream in metrics.
func reason(err error) string {
	for _, r := range []struct {
		err  error
		word string
	}{
		{hello.ErrKey, "key"},
		{hello.ErrCluster, "cluster"},
		{hello.ErrForged, "forged"},
		{hello.ErrIdentity, "identity"},
		{hello.ErrSelf, "self"},
		{hello.ErrBoot, "boot"},
		{hello.ErrVersion, "version"},
		{hello.ErrPurpose, "purpose"},
		{hello.ErrTLS, "tls"},
		{hello.ErrMagic, "garbage"},
		{errJoin, "join"},
	} {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return pki.Reason(err)
}

// refuse counts a stream that was not taken.
func (i *Interconnect) refuse(why string) {
	i.count.refused.Add(1)
	i.mu.Lock()
	i.refused[why]++
	i.mu.Unlock()
}

// RefusedBy counts the streams that were not taken, by a word for the reason. The words are few and fixed.
func (i *Interconnect) RefusedBy() map[string]uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.refused)
}
