package b2bua

import (
	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// keyed is where a shard puts what distributions hash of the call that it plans.
type keyed struct {
	traits trunkgroup.Traits
	msg    *sip.Message
	// texts are those of the traits that stand in no message.
	called, caller, callID, from, user []byte
}

// traits finds what distributions may go by. Nothing of it outlives the plan.
func (c *Call) traits() *trunkgroup.Traits {
	k := &c.s.keyed
	k.msg = c.msg
	k.called = append(k.called[:0], c.called...)
	k.user = append(k.user[:0], c.user...)
	k.caller = c.appendCallerE164(k.caller[:0])
	k.traits = trunkgroup.Traits{
		CallID: c.msg.CallID(), From: addressURI(c.msg.Header(sip.From)), To: addressURI(c.msg.Header(sip.To)),
		AuthUser: k.user, Caller: k.caller, Called: k.called, Source: c.source.Addr(), Headers: k,
	}
	if uri, err := sip.ParseURI(c.msg.RequestURI()); err == nil {
		k.traits.RequestUser = uri.User
	}
	if c.token.yes {
		k.takeOver(&c.token.Keys)
	}
	return &k.traits
}

// takeOver puts what the origin of a handed-over call went by in the place of what the
// hand-off shows: its Call-ID, its source and its caller are other ones.
func (k *keyed) takeOver(origin *geo.Keys) {
	t := &k.traits
	t.Source = origin.Source
	k.user = append(k.user[:0], origin.User...)
	t.AuthUser = k.user
	if origin.CallID != "" {
		k.callID = append(k.callID[:0], origin.CallID...)
		t.CallID = k.callID
	}
	if origin.From != "" {
		k.from = append(k.from[:0], origin.From...)
		t.From = k.from
	}
	if origin.Caller != "" {
		k.caller = append(k.caller[:0], origin.Caller...)
		t.Caller = k.caller
	}
}

// HeaderValue implements trunkgroup.HeaderSource.
func (k *keyed) HeaderValue(name string) []byte { return valueOf(k.msg, name) }

// appendCallerE164 appends the caller's number as his group writes numbers; one that
// cannot be read so is left as it came. Nobody's is appended for an anonymous caller.
func (c *Call) appendCallerE164(dst []byte) []byte {
	from := addressOf(c.msg.Header(sip.From))
	policy := &trunkgroup.Numbering{}
	if c.ingress != nil {
		policy = &c.ingress.Numbering
	}
	if trunkgroup.Anonymous(from.User, from.Host) {
		return dst
	}
	begin := len(dst)
	dst, err := number.AppendE164(dst, policy, from.User)
	if err != nil {
		dst = append(dst[:begin], from.Number()...)
	}
	return dst
}

// addressURI returns the URI of a From or To value; nil when it cannot be read.
func addressURI(v []byte) []byte {
	a, err := sip.ParseNameAddr(v)
	if err != nil {
		return nil
	}
	return a.URI
}

// maxKey bounds each key that a hand-off carries, in octets.
const maxKey = 512

// handedKeys are what the distributions of the call's groups may go by and the peer
// cannot see.
func (c *Call) handedKeys() (keys geo.Keys) {
	if c.customer == nil || !c.hashed {
		return keys
	}
	t := c.traits()
	keys = geo.Keys{CallID: bounded(t.CallID), User: bounded(t.AuthUser), Caller: bounded(t.Caller), Source: t.Source}
	if c.ani != "" {
		keys.From = bounded(t.From) // else the peer sees it
	}
	return keys
}

func bounded(b []byte) string {
	if len(b) > maxKey {
		return ""
	}
	return string(b)
}
