package trunkgroup

import (
	"net/netip"
	"slices"
	"time"
)

// MaxExpires is the longest that any binding is kept: what nodes tell each other
// of it, removals too, is remembered for that long.
const MaxExpires = 2 * time.Hour

// MayRegister tells whether a digest user may register under a member's AOR:
// one that the member names, of its group or of another one of the same
// customer. The same name in somebody else's realm is another user.
func (m *Member) MayRegister(g *Group, username string) bool {
	return m.Registration != nil && g != nil && ownGroups(m.Group, g) && slices.Contains(m.Registration.Users, username)
}

// AllowedFrom tells whether a REGISTER may come from an address (P-29).
func (r *Registration) AllowedFrom(addr netip.Addr) bool { return within(r.BoundIP, addr) }

// has tells whether a binding's digest user is still one of the member's: the
// document may have changed since he registered. A binding that names no user is
// nobody's to take back.
func (r *Registration) has(user string) bool { return user == "" || slices.Contains(r.Users, user) }
