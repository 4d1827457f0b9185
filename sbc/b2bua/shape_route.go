package b2bua

import (
	"bytes"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/sbc/transport"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// shaping makes the INVITE of one attempt to a carrier that wants it otherwise than the
// caller wrote it. It begins with the caller's own request each time: nothing of a carrier
// before it is left in it (S-082, S-086).
type shaping struct {
	call  *Call
	route *trunkgroup.CarrierRoute // with nothing in it, where nobody decided
	group *trunkgroup.Group
	host  string // the far end's
	ours  string // of the caller's address there
	writer
	// number and params are the user that is dialled in place of the caller's, and what a
	// decision server wrote behind it; nil for none.
	number, params []byte
}

// shapeRoute shapes an attempt by its route, and by what its group says of all calls, in the
// fixed order of S-087: the caller's number is replaced, the identity asserted, the numbers
// written as the policy wants, and only then is the caller withheld.
func (c *Call) shapeRoute(t *try, hop transport.Target) shaped {
	m, route := t.cand.Member, t.cand.Route
	if route == nil {
		route = new(trunkgroup.CarrierRoute)
	}
	w := &shaping{call: c, route: route, group: m.Group, host: memberHost(t.cand), ours: c.callerHost(hop)}
	w.writer = writer{policy: w.namedPolicy(), prefix: c.prefix}
	if c.customer != nil {
		w.sender = &c.customer.Numbering
	}
	w.number, w.params = userOf(w.destination())
	ids := readIdentities(c.msg)
	v := w.identify(&ids)
	sh := shaped{uri: w.requestURI(m), from: string(ids.from.append(nil)), to: w.called(), veil: v}
	sh.lines = w.appendLines(make([]byte, 0, crossingSize(c.msg)+512), &ids, v)
	return sh
}

// namedPolicy is the number policy of the route, or else of its group. A name that nobody
// has configured shapes nothing.
func (w *shaping) namedPolicy() *trunkgroup.WritingPolicy {
	name := w.route.NumberPolicy
	if name == "" {
		return w.group.Writing
	}
	table, _ := w.call.s.env.Routing()
	policy := table.NumberPolicy(name)
	if policy == nil {
		w.fault(FaultUnknownPolicy, name)
	}
	return policy
}

// destination is the number that replaces the dialled one: of the route, or of the whole
// decision; empty for none.
func (w *shaping) destination() string {
	switch set := w.call.routes; {
	case w.route.Destination != "":
		return w.route.Destination
	case set != nil:
		return set.Destination
	}
	return ""
}

// identify says who calls, and returns what stands between him and the far end; nil when he
// is shown as he is.
func (w *shaping) identify(ids *identities) *veil {
	c, v := w.call, &veil{withheld: w.route.Restricted}
	if v.withheld {
		ids.hide(v)
	}
	shown, _ := userOf(w.route.CallerID)
	if len(shown) == 0 {
		shown = []byte(c.ani)
	}
	if ids.from.text == nil {
		w.atOurs(&ids.from)
	} else {
		ids.from = readPersona([]byte(c.callerFrom(w.ours)))
	}
	if len(shown) > 0 {
		v.keep(shown)
		if w.route.CallerID == "" { // the user that has the override says nothing of it, not even a name
			ids.unname()
		}
		ids.substitute(shown, w.ours)
	}
	if w.group.Unasserted {
		ids.asserted = nil
	} else if len(shown) > 0 || v.withheld {
		ids.assert(shown, w.ours)
	}
	w.identities(ids, w.ours)
	if v.withheld {
		ids.withhold()
	}
	if !v.withheld && len(shown) == 0 {
		return nil
	}
	return v
}

// atOurs puts the caller's From at our own address, as on every leg (NUM-08): what he was
// reached at is no business of the far end.
func (w *shaping) atOurs(from *persona) {
	from.params = nil
	if from.scheme != "tel" && string(from.host()) != anonymousHost {
		from.at(w.ours)
	}
}

// called is the To: what the caller wrote, or the number that replaces it, at the far end's
// host. A tech prefix never gets here (C8).
func (w *shaping) called() string {
	to := readPersona(w.call.msg.Header(sip.To))
	if to.text != nil {
		to = readPersona([]byte(w.call.calledAddress(w.host)))
	}
	to.params = nil
	if to.scheme != "tel" {
		to.at(w.host)
	}
	if len(w.number) > 0 {
		to.display, to.user, to.userParams = nil, w.number, nil
		if to.scheme == "tel" {
			to.scheme = "sip"
			to.at(w.host)
		}
	}
	w.write(trunkgroup.PlaceTo, &to, w.host) // it cannot be left out
	return string(to.append(nil))
}

// requestURI is the Request-URI: a whole one that the route brings along, or the number at
// the far end's host (S-083), with the tech prefix before it (S-080).
func (w *shaping) requestURI(m *trunkgroup.Member) string {
	prefix := appendEscaped(nil, w.route.TechPrefix, "")
	if w.route.RURI != "" {
		if uri, ok := w.override(prefix); ok {
			return uri
		}
		w.fault(FaultBadURI, w.route.RURI)
	}
	b := append(append(make([]byte, 0, 96), "sip:"...), prefix...)
	b = w.appendDialled(b, m)
	return string(append(append(append(b, '@'), w.host...), m.Transport.URIParam()...))
}

// override writes the Request-URI that the route brings along, with its number as the policy
// wants it; one without a user gets the number that is dialled.
func (w *shaping) override(prefix []byte) (string, bool) {
	raw := w.route.RURI
	for i := range len(raw) {
		if raw[i] <= ' ' || raw[i] >= 0x7f {
			return "", false
		}
	}
	u, err := sip.ParseURI([]byte(raw))
	if err != nil || len(u.Headers) > 0 || len(u.Password) > 0 {
		return "", false
	}
	p := readPersona([]byte("<" + raw + ">"))
	if p.text != nil {
		return "", false
	}
	if len(p.user) == 0 {
		p.user = w.appendDialled(nil, nil)
	} else {
		w.write(trunkgroup.PlaceRequestURI, &p, w.host) // it cannot be left out
	}
	p.user = append(bytes.Clone(prefix), p.user...)
	uri := p.append(nil)
	uri = uri[1 : len(uri)-1]
	_, err = sip.ParseURI(uri) // a tel URI takes no prefix before a plus
	return string(uri), err == nil
}

// appendDialled appends the user that is dialled, as the policy wants to see it, or else as
// the group writes numbers. m is nil where it has no say.
func (w *shaping) appendDialled(dst []byte, m *trunkgroup.Member) []byte {
	c := w.call
	dialled, params := number.Split([]byte(c.calledRaw))
	called := []byte(c.called)
	if len(w.number) > 0 {
		dialled, params, called = w.number, bytes.TrimPrefix(w.params, []byte{';'}), w.number
		if w.sender != nil {
			if e164, err := number.AppendE164(nil, w.sender, dialled); err == nil {
				called = e164
			}
		}
	}
	base := len(dst)
	if w.policy != nil {
		if w.policy.Formats[trunkgroup.PlaceRequestURI] == trunkgroup.FormatNone {
			called = dialled
		}
		if out, ok := number.AppendWritten(dst, w.policy, trunkgroup.PlaceRequestURI, w.sender, called); ok {
			dst = out
		}
	} else if m != nil {
		dst = number.AppendFormatted(dst, &m.Group.Numbering, called, dialled)
	}
	if len(dst) == base {
		dst = append(dst, called...)
	}
	if len(params) > 0 {
		dst = append(append(dst, ';'), params...)
	}
	return dst
}
