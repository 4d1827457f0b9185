package b2bua

import (
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// stays says which headers of one leg never reach the other: what names one
// side's topology, and what is agreed leg by leg (DEC-23).
var stays = func() (t [256]bool) {
	for _, id := range [...]sip.HeaderID{
		sip.Via, sip.From, sip.To, sip.CallID, sip.CSeq, sip.MaxForwards, sip.Contact,
		sip.Route, sip.RecordRoute, sip.Path, sip.ServiceRoute,
		sip.ContentLength, sip.ContentType,
		sip.Authorization, sip.ProxyAuthorization, sip.WWWAuthenticate, sip.ProxyAuthenticate, sip.AuthenticationInfo,
		sip.Supported, sip.Require, sip.ProxyRequire, sip.Unsupported, sip.Allow, sip.AllowEvents,
		sip.RSeq, sip.RAck, sip.SessionExpires, sip.MinSE,
		sip.UserAgent, sip.Server, sip.Timestamp, sip.RetryAfter,
		sip.Replaces, sip.Join, sip.ReferTo, sip.Event, sip.SubscriptionState,
		sip.Handoff, sip.Attempts,
	} {
		t[id] = true
	}
	return t
}()

// appendCrossing appends the headers of a message that may cross to the other
// leg, as they stand and in their order.
func appendCrossing(dst []byte, m *sip.Message) []byte {
	m.Each(func(h sip.Header) bool {
		if !stays[h.ID] {
			dst = append(append(append(append(dst, h.Name...), ": "...), h.Value...), "\r\n"...)
		}
		return true
	})
	return dst
}

// crossingSize estimates what appendCrossing writes.
func crossingSize(m *sip.Message) int { return len(m.Raw()) - len(m.Body()) }
