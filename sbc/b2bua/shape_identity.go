package b2bua

import (
	"slices"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// identities is everybody whom the INVITE of an attempt names beside the called party.
type identities struct {
	from                                    persona
	asserted, preferred, remote, diversions []persona
}

// readIdentities reads them from the caller's own request.
func readIdentities(m *sip.Message) identities {
	list := func(id sip.HeaderID) (personas []persona) {
		m.EachOf(id, func(v []byte) bool {
			if id != sip.RemotePartyID { // whose grammar EachOf does not know for a list
				personas = append(personas, readPersona(v))
				return true
			}
			sip.EachValue(v, func(v []byte) bool {
				personas = append(personas, readPersona(v))
				return true
			})
			return true
		})
		return personas
	}
	return identities{
		from: readPersona(m.Header(sip.From)), asserted: list(sip.PAssertedIdentity), preferred: list(sip.PPreferredIdentity),
		remote: list(sip.RemotePartyID), diversions: list(sip.Diversion),
	}
}

// hide says what must not be told of a caller who is withheld.
func (ids *identities) hide(v *veil) {
	if !ids.from.anonymous() {
		v.keep(ids.from.user)
	}
	for _, list := range [...][]persona{ids.asserted, ids.preferred, ids.remote} {
		for i := range list {
			if !list[i].anonymous() {
				v.keep(list[i].user)
			}
		}
	}
}

// substitute puts a number into the place of the caller's own, wherever he is named (S-084).
// An anonymous From stays as it is (RFC 3323 section 4.1).
func (ids *identities) substitute(user []byte, host string) {
	if !ids.from.anonymous() {
		ids.from.become(user, host)
	}
	for _, list := range [...]*[]persona{&ids.asserted, &ids.preferred} {
		if len(*list) > 0 {
			one := (*list)[0]
			one.become(user, host)
			*list = []persona{one}
		}
	}
	for i := range ids.remote {
		if ids.remote[i].text != nil || ids.remote[i].calling() {
			ids.remote[i].become(user, host)
		}
	}
}

// unname takes the names out of all that the caller says of himself, and what he would
// prefer to be called.
func (ids *identities) unname() {
	ids.preferred = nil
	if !ids.from.anonymous() {
		ids.from.display = nil
	}
	for _, list := range [...][]persona{ids.asserted, ids.remote} {
		for i := range list {
			list[i].display = nil
		}
	}
}

// assert says who the caller is where nobody has (S-084, S-085): by the number that is
// shown for him, or by what he says himself.
func (ids *identities) assert(shown []byte, host string) {
	if len(ids.asserted) > 0 {
		return
	}
	var p persona
	switch {
	case !ids.from.anonymous() && ids.from.text == nil:
		p = ids.from
		p.params = nil
	case len(shown) > 0:
		p.become(shown, host)
	default:
		i := slices.IndexFunc(ids.preferred, func(p persona) bool { return p.text == nil && !p.anonymous() })
		if i < 0 {
			return
		}
		p = ids.preferred[i]
	}
	if len(p.user) > 0 {
		ids.asserted = []persona{p}
	}
}

// withhold takes the caller out of all places but what is asserted to the carrier (S-085).
// The one that he would prefer goes, since it leaks the number past the border, and so do
// the older words for it.
func (ids *identities) withhold() {
	ids.from, ids.preferred, ids.remote = nobody(), nil, nil
}

// writer writes numbers as one carrier wants them.
type writer struct {
	policy *trunkgroup.WritingPolicy // nil writes them as they are
	sender *trunkgroup.Numbering     // how the customer writes his
	prefix string                    // tech prefix of the caller's source
}

// write writes the number of an address. It reports false when the address is to be left
// out, for it has none. "No policy ever formats anonymous" (S-087).
func (w *writer) write(place trunkgroup.NumberPlace, p *persona, host string) bool {
	if w.policy == nil || p.text == nil && p.anonymous() {
		return true
	}
	if p.text != nil || len(p.user) == 0 {
		return !w.policy.StripUnparseable
	}
	out, ok := number.AppendWritten(nil, w.policy, place, w.sender, trunkgroup.BehindPrefix(p.user, w.prefix))
	if !ok {
		return !w.policy.StripUnparseable
	}
	p.user = out
	if p.scheme == "tel" && out[0] != '+' && w.policy.Formats[place] != trunkgroup.FormatNone {
		// A tel URI has global numbers alone, but for those with a context (RFC 3966 5.1.5).
		p.scheme, p.userParams = "sip", nil
		p.at(host)
		p.rest = append(p.rest, ";user=phone"...)
	}
	return true
}

// identities writes all numbers of them. An address that is to be left out goes; a From
// cannot, and becomes nobody's.
func (w *writer) identities(ids *identities, host string) {
	if w.policy == nil {
		return
	}
	if !w.write(trunkgroup.PlaceFrom, &ids.from, host) {
		ids.from = nobody()
	}
	ids.asserted = w.list(trunkgroup.PlaceAsserted, ids.asserted, host)
	ids.preferred = w.list(trunkgroup.PlacePreferred, ids.preferred, host)
	ids.remote = w.list(trunkgroup.PlaceRemoteParty, ids.remote, host)
	ids.diversions = w.list(trunkgroup.PlaceDiversion, ids.diversions, host)
	if w.policy.DiversionPrivacy {
		for i := range ids.diversions {
			ids.diversions[i].respectPrivacy()
		}
	}
}

// list writes the numbers of a header, and returns the addresses that stay.
func (w *writer) list(place trunkgroup.NumberPlace, personas []persona, host string) []persona {
	kept := personas[:0]
	for _, p := range personas {
		if w.write(place, &p, host) {
			kept = append(kept, p)
		}
	}
	return kept
}

// respectPrivacy takes what an entry of Diversion wants to be kept private out of it: its
// name, its number, or both (RFC 5806 section 5.1).
func (p *persona) respectPrivacy() {
	wish, ok := sip.Param(p.params, "privacy")
	if !ok || p.text != nil {
		return
	}
	switch string(wish) {
	case "name":
		p.display = nil
	case "full", "uri":
		hidden := nobody()
		hidden.params = p.params
		*p = hidden
	}
}
