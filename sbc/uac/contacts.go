package uac

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// maxContacts bounds the contacts of a 200 that are read, maxRemove those that are
// taken out with one REGISTER.
const (
	maxContacts = 64
	maxRemove   = 8
)

// held is one contact that the registrar says it holds.
type held struct {
	uri     string
	user    string
	host    string
	port    uint16
	expires time.Duration // 0 = not said
}

type heldContacts []held

// readContacts reads what a 2xx to a REGISTER lists (RFC 3261 section 10.3 step 8).
func readContacts(m *sip.Message) heldContacts {
	var list heldContacts
	m.EachOf(sip.Contact, func(v []byte) bool {
		sip.EachValue(v, func(one []byte) bool {
			if a, err := sip.ParseNameAddr(one); err == nil {
				if u, err := sip.ParseURI(a.URI); err == nil {
					h := held{uri: string(a.URI), user: string(u.User), host: string(u.Host), port: u.Port}
					if p, ok := sip.Param(a.Params, "expires"); ok {
						h.expires, _ = seconds(p)
					}
					list = append(list, h)
				}
			}
			return len(list) < maxContacts
		})
		return len(list) < maxContacts
	})
	return list
}

// Contacts lists the URIs of the Contacts of a response.
func Contacts(m *sip.Message) []string {
	var list []string
	for _, h := range readContacts(m) {
		list = append(list, h.uri)
	}
	return list
}

// granted is for how long the registrar holds our contact: what it says of it, else
// the response's Expires, else what was asked for. A list that has others and not
// ours holds nothing of us, unless the registrar wrote ours in another way.
func (list heldContacts) granted(m *sip.Message, contact string, asked time.Duration) time.Duration {
	for i := range list {
		if list[i].is(contact) && list[i].expires > 0 {
			return min(list[i].expires, 24*time.Hour)
		}
	}
	if d, ok := seconds(m.Header(sip.Expires)); ok {
		return min(d, 24*time.Hour)
	}
	return asked
}

// leftovers are the contacts of the same account at other nodes.
func (list heldContacts) leftovers(contact string, ours func(uri string) bool) []string {
	var left []string
	for i := range list {
		if !list[i].is(contact) && ours(list[i].uri) && len(left) < maxRemove {
			left = append(left, list[i].uri)
		}
	}
	return left
}

// is tells whether a contact is the one of that URI: user, host and port count, what
// registrars add behind them does not.
func (h *held) is(uri string) bool {
	u, err := sip.ParseURI([]byte(uri))
	return err == nil && string(u.User) == h.user && string(u.Host) == h.host && u.Port == h.port
}
