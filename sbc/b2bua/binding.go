package b2bua

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// This file is about the INVITE to a registered far end: by which socket it
// leaves, and what it is addressed to.

// bindingHop returns where the requests to a binding go (DEC-15): over UDP
// without a NAT by a listener of ours, else by the listener or the connection
// that took the registration, through its node when that is another one. cause
// says why there is no way.
func (s *Shard) bindingHop(b *trunkgroup.Binding) (hop transport.Target, cause string) {
	hop = transport.Target{Transport: b.Transport, Addr: b.Addr}
	here := b.Node == s.cfg.Node
	if b.Reach == trunkgroup.ReachFlow {
		if b.Flow == 0 || here && b.Boot != s.cfg.Boot {
			return hop, trunkgroup.CauseFlowGone
		}
		hop.Flow = transport.Flow(b.Flow)
	}
	if !here && b.Reach != trunkgroup.ReachAny {
		hop.Listener, hop.ViaNode = -1, b.Node
		hop.ViaSocket = &transport.ViaSocket{Local: b.Local, Advertise: advertised(b)}
		return hop, ""
	}
	var ok bool
	if hop.Listener, ok = s.bindingListener(b, here); !ok && hop.Flow == 0 {
		return hop, "no_listener"
	}
	return hop, ""
}

// advertised is how the far end knows the listener that took its registration.
func advertised(b *trunkgroup.Binding) string {
	if b.Advertise == "" && b.Local.IsValid() && !b.Local.Addr().IsUnspecified() {
		return b.Local.String()
	}
	return b.Advertise
}

// bindingListener is the listener of ours that the far end knows, if it is here,
// else the first that fits.
func (s *Shard) bindingListener(b *trunkgroup.Binding, here bool) (int, bool) {
	if here {
		for i, l := range s.cfg.Listeners {
			if l.Transport == b.Transport && BoundAt(l.Addr, b.Local) {
				return i, true
			}
		}
	}
	i, ok := s.listener(b.Transport, b.Addr.Addr())
	if !ok {
		i = -1
	}
	return i, ok
}

// BoundAt tells whether a socket bound to one address receives what is sent to
// another.
func BoundAt(bound, local netip.AddrPort) bool {
	if !bound.IsValid() || bound.Port() != local.Port() {
		return false
	}
	return bound.Addr().IsUnspecified() || bound.Addr().Unmap() == local.Addr().Unmap()
}

// sendToBinding puts the INVITE of an attempt to a registered far end on the
// wire: to its contact, along its path.
func (c *Call) sendToBinding(t *try) {
	b := t.cand.Binding
	hop, cause := c.s.bindingHop(b)
	if cause != "" {
		c.do(c.seq.Undialable(c.s.now, t.index, cause))
		return
	}
	o := c.legOutline(hop, c.callerLines(hop))
	o.uri, o.routes = c.bindingURI(t.cand.Member, b), b.Path
	id := c.legIdentity(&o, c.callerAddress(hop), c.calledAddress(hostOf(b.AOR)))
	id.routes, id.reach = o.routes, b.Reach
	t.callID = id.callID
	t.tx = c.s.sendInvite(&o, id, t)
}

// bindingURI is the Request-URI for a binding: its contact as it stands (RFC
// 3261 16.5), or with the called number as its user, where the member asks for
// it or the contact stands for many numbers (RFC 6140 5.2).
func (c *Call) bindingURI(m *trunkgroup.Member, b *trunkgroup.Binding) string {
	switch {
	case !strings.HasPrefix(c.called, "+"): // called by its own name
		return b.Contact
	case b.Bulk:
		return withUser(b.Contact, c.called)
	case m.Registration.ByNumber:
		return withUser(b.Contact, c.calledUser(m))
	}
	return b.Contact
}

// withUser returns a URI with another user part, without the parameter that
// says that any may stand there.
func withUser(uri, user string) string {
	u, err := sip.ParseURI([]byte(uri))
	if err != nil || u.Scheme == "tel" {
		return uri
	}
	_, rest, found := strings.Cut(uri, "@")
	if !found {
		_, rest, _ = strings.Cut(uri, ":")
	}
	parts := strings.Split(rest, ";")
	params := slices.DeleteFunc(parts[1:], func(p string) bool { return strings.EqualFold(p, "bnc") })
	return u.Scheme + ":" + user + "@" + strings.Join(append(parts[:1], params...), ";")
}

// hostOf is the host of an AOR, by which the far end's users are known.
func hostOf(aor string) string {
	_, host, _ := strings.Cut(aor, "@")
	return host
}
