package b2bua

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// leg is one dialog of a call: the caller's or a callee's (RFC 3261 12).
type leg struct {
	call   *Call
	caller bool

	callID              string
	localTag, remoteTag string
	// local and remote are the values of From and To as we send them,
	// without the tag parameter.
	local, remote string
	localSeq      uint32
	remoteSeq     uint32
	numbered      bool // remoteSeq is set
	// target is the remote target: the URI of the far end's Contact.
	target string
	// routes is the route set in the order of use: URIs in angle brackets.
	routes []string
	// base is where the dialog was set up from or to; hop is where requests
	// in it go.
	base, hop transport.Target
	// reach says whether the far end is reached where it came from alone; zero is
	// by what it says of itself.
	reach trunkgroup.Reach
	// login is what a carrier that challenges is shown; nil for most.
	login *login
	// veil is what the caller says in the dialog must pass; nil for most.
	veil *veil
	// others are further tags that the caller knows this dialog by (DEC-01).
	others []string
}

// matches tells whether a request belongs to this dialog.
func (l *leg) matches(callID, localTag, remoteTag []byte) bool {
	if l.callID != string(callID) || l.remoteTag != string(remoteTag) {
		return false
	}
	return l.localTag == string(localTag) || slices.Contains(l.others, string(localTag))
}

// setTarget takes the remote target from a Contact value and works out the
// next hop (RFC 3261 12.2.1.1).
func (l *leg) setTarget(s *Shard, contact []byte) {
	if uri, ok := targetOf(contact); ok {
		l.target = uri
	}
	next := l.target
	if len(l.routes) > 0 {
		next = uriOf(l.routes[0])
	} else if l.reach == trunkgroup.ReachSocket {
		l.hop = l.base // behind a NAT what it says of itself leads nowhere
		return
	}
	l.hop = s.nextHop(next, l.base, len(l.routes) > 0)
}

// targetOf returns the URI of a Contact as a Request-URI: a SIP or SIPS URI
// without the headers and the method that only a Contact may have (RFC 3261
// 19.1.1).
func targetOf(contact []byte) (uri string, ok bool) {
	a, err := sip.ParseNameAddr(contact)
	if err != nil {
		return "", false
	}
	if !isTarget(string(a.URI)) {
		return "", false
	}
	u, _ := sip.ParseURI(a.URI)
	text := a.URI
	if len(u.Headers) > 0 {
		text = text[:len(text)-len(u.Headers)-1]
	}
	if _, found := sip.Param(u.Params, "method"); !found {
		return string(text), true
	}
	parts := strings.Split(string(text), ";")
	kept := slices.DeleteFunc(parts, func(p string) bool {
		name, _, _ := strings.Cut(p, "=")
		return strings.EqualFold(name, "method")
	})
	return strings.Join(kept, ";"), true
}

// isTarget tells whether a request may be sent to a URI: one that does not parse
// must not become a Request-URI, wherever it stood.
func isTarget(uri string) bool {
	u, err := sip.ParseURI([]byte(uri))
	return err == nil && len(u.Host) > 0 && (u.Scheme == "sip" || u.Scheme == "sips")
}

// enter makes the dialog known under one of our tags, leave takes it out.
func (s *Shard) enter(l *leg, tag string) { s.dialogs[s.dialogKey([]byte(l.callID), []byte(tag))] = l }

func (s *Shard) leave(l *leg) {
	for _, tag := range append(l.others, l.localTag) {
		if key := s.dialogKey([]byte(l.callID), []byte(tag)); s.dialogs[key] == l {
			delete(s.dialogs, key)
		}
	}
}

// follow takes the connection of a request from the far end as the one that
// leads to it: its older ones may be gone (DLG-01).
func (l *leg) follow(s *Shard, p *Packet) {
	if l.reach == trunkgroup.ReachSocket || l.reach == trunkgroup.ReachFlow {
		l.rebase(s, p)
		return
	}
	if p.Flow == 0 || p.Flow == l.base.Flow || p.Transport != l.base.Transport || p.Relay != l.base.ViaNode {
		return
	}
	l.base = s.requestBase(p, l.base, l.reach)
	l.setTarget(s, nil)
}

// moveOn returns where the requests of the dialog go once a connection, or the
// node that has it, has gone: from here to what the far end says of itself.
func (l *leg) moveOn(s *Shard, gone transport.Target) transport.Target {
	if l.base.Flow == gone.Flow && l.base.ViaNode == gone.ViaNode {
		l.base.Flow = 0
		if l.base.ViaNode != "" {
			l.base = s.direct(l.base)
		}
		l.setTarget(s, nil)
	}
	return l.hop
}

// mayMove tells whether a failed request may find another way.
func mayMove(t transport.Target) bool { return t.Flow != 0 || t.ViaNode != "" }

func uriOf(route string) string {
	a, err := sip.ParseNameAddr([]byte(route))
	if err != nil {
		return ""
	}
	return string(a.URI)
}

// nextHop returns where a request for a URI goes. There is no DNS on the call
// path: a host that is not an address keeps the address that the dialog was
// set up with, and an open connection is reused (RFC 5923).
// A proxy in the route set that opened the connection itself is asked over it.
func (s *Shard) nextHop(uri string, base transport.Target, routed bool) transport.Target {
	if base.Transport == trunkgroup.Interconnect || (base.Flow != 0 && !routed) {
		return base
	}
	u, err := sip.ParseURI([]byte(uri))
	if err != nil {
		return base
	}
	ip, err := netip.ParseAddr(trimBrackets(string(u.Host)))
	if err != nil || !mayAsk(ip.Unmap(), base.Addr.Addr().Unmap()) {
		return base
	}
	to := base
	to.Flow = 0
	if v, ok := sip.Param(u.Params, "transport"); ok {
		if t, err := trunkgroup.ParseTransport(string(v)); err == nil {
			to.Transport = t
		}
	} else if u.Scheme == "sips" {
		to.Transport = trunkgroup.TLS
	}
	if !to.Transport.Dialled() {
		return base // a WebSocket cannot be opened from here (RFC 7118 5.2.4): the way that the dialog came
	}
	port := u.Port
	if port == 0 {
		port = to.Transport.DefaultPort()
	}
	if base.Flow != 0 && to.Transport == base.Transport && ip.Unmap() == base.Addr.Addr().Unmap() {
		return base
	}
	to.Addr = netip.AddrPortFrom(ip, port)
	if i, ok := s.listener(to.Transport, ip); ok && (to.Transport != base.Transport || ip.Is4() != base.Addr.Addr().Is4()) {
		to.Listener = i
		to.ViaNode, to.ViaSocket = "", nil
	}
	return to
}

// mayAsk tells whether a far end at an address may have us send to another one: not to
// ourselves (the kernel takes 0.0.0.0 for that too, RFC 1122 3.2.1.3), unless it is here
// itself, and not to many at once.
func mayAsk(ip, from netip.Addr) bool {
	switch {
	case ip.IsUnspecified(), ip.IsMulticast(), ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return false
	}
	return !ip.IsLoopback() || from.IsLoopback()
}

func trimBrackets(host string) string {
	if len(host) > 2 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// listener returns the first listener for a transport and address family.
func (s *Shard) listener(t trunkgroup.Transport, ip netip.Addr) (int, bool) {
	v6 := ip.Is6() && !ip.Is4In6()
	for i, l := range s.cfg.Listeners {
		if l.Transport == t && l.IPv6 == v6 {
			return i, true
		}
	}
	return 0, false
}

// setRoutes takes the route set from Record-Route: in order for the server
// side, reversed for the client side (RFC 3261 12.1). What is no SIP URI is left
// out.
func (l *leg) setRoutes(m *sip.Message, reverse bool) {
	l.routes = l.routes[:0]
	m.EachOf(sip.RecordRoute, func(v []byte) bool {
		sip.EachValue(v, func(one []byte) bool {
			if uri := uriOf(string(one)); isTarget(uri) {
				l.routes = append(l.routes, string(one))
			}
			return len(l.routes) < 16
		})
		return len(l.routes) < 16
	})
	if reverse {
		for i, j := 0, len(l.routes)-1; i < j; i, j = i+1, j-1 {
			l.routes[i], l.routes[j] = l.routes[j], l.routes[i]
		}
	}
}

// requestURI returns the Request-URI and the Route values of a request in the
// dialog; a first route without lr is a strict router (RFC 3261 12.2.1.1).
func (l *leg) requestURI() (uri string, routes []string) {
	if len(l.routes) == 0 {
		return l.target, nil
	}
	first := uriOf(l.routes[0])
	if u, err := sip.ParseURI([]byte(first)); err == nil {
		if _, loose := sip.Param(u.Params, "lr"); loose {
			return l.target, l.routes
		}
	}
	return first, append(append([]string(nil), l.routes[1:]...), "<"+l.target+">")
}

// outline is what a request that we send is made of.
type outline struct {
	method       string
	uri          string
	routes       []string
	from, to     string // complete values, with tags
	callID       string
	seq          uint32
	token        uint64
	maxForwards  int
	hop          transport.Target
	leg          *leg // the dialog that the request is inside of
	contact      bool
	lines        []byte // complete further header lines
	credentials  string // a complete header line that answers a challenge, or empty
	contentType  []byte
	body         []byte
	sizeEstimate int
}

// appendRequest writes a request. Nothing in it comes from the other leg but
// what the caller of this function put into lines and body.
func (s *Shard) appendRequest(o *outline) []byte {
	size := o.sizeEstimate
	if size == 0 {
		size = 512 + len(o.lines) + len(o.body)
	}
	b := make([]byte, 0, size)
	b = append(b, o.method...)
	b = append(b, ' ')
	b = append(b, o.uri...)
	b = append(b, " SIP/2.0\r\nVia: SIP/2.0/"...)
	b = append(b, o.hop.Transport.Via()...)
	b = append(b, ' ')
	b = append(b, s.sentBy(o.hop)...)
	b = append(b, ";branch="...)
	b = appendBranch(b, o.token)
	if o.hop.Transport == trunkgroup.UDP {
		b = append(b, ";rport"...)
	}
	for _, r := range o.routes {
		b = append(append(b, "\r\nRoute: "...), r...)
	}
	b = append(b, "\r\nMax-Forwards: "...)
	b = strconv.AppendInt(b, int64(o.maxForwards), 10)
	b = append(append(b, "\r\nFrom: "...), o.from...)
	b = append(append(b, "\r\nTo: "...), o.to...)
	b = append(append(b, "\r\nCall-ID: "...), o.callID...)
	b = append(b, "\r\nCSeq: "...)
	b = strconv.AppendUint(b, uint64(o.seq), 10)
	b = append(append(b, ' '), o.method...)
	b = append(b, "\r\n"...)
	if o.contact {
		b = s.appendContact(b, o.hop)
	}
	if s.cfg.UserAgent != "" {
		b = append(append(append(b, "User-Agent: "...), s.cfg.UserAgent...), "\r\n"...)
	}
	b = append(append(b, o.credentials...), o.lines...)
	return sip.AppendBody(b, o.contentType, o.body)
}

// interconnectDomain is the host part of what nodes write to each other; it
// never leaves the interconnect (RFC 2606 reserves it).
const interconnectDomain = ".interconnect.invalid"

// sentBy returns what Via and Contact name as our address towards a hop.
func (s *Shard) sentBy(t transport.Target) string {
	if t.Transport == trunkgroup.Interconnect {
		return s.cfg.Node + interconnectDomain
	}
	i := t.Listener
	if t.ViaNode != "" {
		if t.ViaSocket != nil && t.ViaSocket.Advertise != "" {
			return t.ViaSocket.Advertise
		}
		i = s.ownListener(t)
	}
	if i >= 0 && i < len(s.cfg.Listeners) {
		return s.cfg.Listeners[i].Advertise
	}
	return "invalid"
}

// appendContact appends our Contact towards a hop as a header line.
func (s *Shard) appendContact(b []byte, t transport.Target) []byte {
	b = append(b, "Contact: <sip:"...)
	b = append(b, s.sentBy(t)...)
	b = append(b, t.Transport.URIParam()...)
	return append(b, ">\r\n"...)
}

// inside returns the outline of a request in the dialog. An ACK for a 2xx has
// the number of its INVITE, every other request the next one.
func (l *leg) inside(s *Shard, method string) outline {
	uri, routes := l.requestURI()
	o := outline{
		method: method, uri: uri, routes: routes,
		from: l.local + ";tag=" + l.localTag, to: l.withRemoteTag(),
		callID: l.callID, token: s.newBranch(), maxForwards: 70, hop: l.hop, leg: l,
	}
	if method != sip.ACK {
		l.localSeq++
		o.seq = l.localSeq
		if l.login != nil {
			o.credentials = l.login.credentials(s, method, uri)
		}
	}
	return o
}

func (l *leg) withRemoteTag() string {
	if l.remoteTag == "" {
		return l.remote
	}
	return l.remote + ";tag=" + l.remoteTag
}

// bye sends a BYE in the dialog. lines are further header lines. Between the
// halves of a handed-over call it is sent until it is answered.
func (l *leg) bye(s *Shard, lines string, taker taker) {
	if l.hop.Node != "" {
		taker = &halfBye{s: s, leg: l, lines: lines, taker: taker, until: s.now.Add(halfGoneAfter + halfCheckEvery)}
	}
	o := l.inside(s, sip.BYE)
	o.lines = []byte(lines)
	s.send(&o, taker)
}
