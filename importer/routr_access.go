package importer

import (
	"net/netip"
	"slices"

	"github.com/tandem-sbc/tandem/importer/tree"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// acl reads an AccessControlList.
func (r *routr) acl(s *resource) {
	a := trunkgroup.ACLSpec{
		Allow: r.networksOf(s, first(s.spec, []string{"accessControlList", "allow"}, []string{"allow"}), true),
		Deny:  r.networksOf(s, first(s.spec, []string{"accessControlList", "deny"}, []string{"deny"}), false),
	}
	a.Allow = slices.DeleteFunc(a.Allow, func(n string) bool {
		if slices.Contains(a.Deny, n) {
			r.Report.adapted(s.place, s.label()+" "+n, "", "is allowed and denied: it stays denied")
			return true
		}
		return false
	})
	r.acls[s.ref] = a
	r.Report.same(s.place, s.label(), "acl of the groups that name it")
}

// networksOf reads addresses and networks. A list of all addresses means nothing
// beside a list of others, since who is in no list is let in only when there is no
// list of the allowed.
func (r *routr) networksOf(s *resource, n *tree.Node, allow bool) []string {
	var out []string
	for _, c := range n.List() {
		p, err := prefixOf(c.Text())
		at := place{s.file, c.Line}
		switch {
		case err != nil:
			r.Report.lost(at, s.label()+" "+c.Text(), "is no address and no network", "")
		case p.Bits() == 0 && allow:
			r.Report.adapted(at, s.label()+" allow "+c.Text(), "", "everybody is allowed who is not denied")
		case p.Bits() == 0:
			r.Report.adapted(at, s.label()+" deny "+c.Text(), "", "who is not in the list of the allowed is denied")
		case p.IsSingleIP():
			out = append(out, p.Addr().String())
		default:
			if text := p.String(); text != c.Text() {
				r.Report.adapted(at, s.label()+" "+c.Text(), text, "a network is written without the bits of hosts")
			}
			out = append(out, p.String())
		}
	}
	return sortedUnique(out)
}

// aclOf returns the list that a resource names.
func (r *routr) aclOf(s *resource, ref *tree.Node) trunkgroup.ACLSpec {
	name := ref.Text()
	if name == "" {
		return trunkgroup.ACLSpec{}
	}
	a, ok := r.acls[name]
	if !ok {
		r.Report.lost(place{s.file, ref.Line}, s.label()+" accessControlListRef "+name, "there is no such AccessControlList among the inputs", "import it as well")
	}
	return a
}

// credentials reads a Credentials resource. What is in it is shown nowhere.
func (r *routr) credentials(s *resource) {
	user := first(s.spec, []string{"credentials", "username"}, []string{"username"})
	password := first(s.spec, []string{"credentials", "password"}, []string{"password"})
	s.spec.Pass()
	r.secrets[s.ref] = secret{user.Text(), password.Text()}
	r.Report.same(s.place, s.label(), "hashes of who names it")
}

// secretOf returns what a resource names for its login; ok is false when there is
// none, which is reported.
func (r *routr) secretOf(s *resource, ref *tree.Node) (secret, bool) {
	name := ref.Text()
	c, ok := r.secrets[name]
	switch {
	case name == "":
		r.Report.lost(s.place, s.label(), "has no credentialsRef: nobody can register or call with it", "add the user by hand; tandem credential hash makes the hashes")
	case !ok:
		r.Report.lost(place{s.file, ref.Line}, s.label()+" credentialsRef "+name, "there are no such Credentials among the inputs", "import them as well, or add the user by hand")
	case c.password == "" || r.hash == nil:
		r.Report.lost(place{s.file, ref.Line}, s.label()+" credentialsRef "+name, "has no password to hash", "add the user by hand; tandem credential hash makes the hashes")
	default:
		return c, true
	}
	return secret{}, false
}

// login makes the digest user of an agent or a peer.
func (r *routr) login(s *resource, user, realm string) (trunkgroup.CredentialSpec, bool) {
	c, ok := r.secretOf(s, s.spec.At("credentialsRef"))
	if !ok {
		return trunkgroup.CredentialSpec{}, false
	}
	if c.username != "" && c.username != user {
		r.Report.adapted(s.place, s.label()+" username", user, "its Credentials name another user; the resource's own is taken")
	}
	if !r.user(realm, user) {
		r.Report.lost(s.place, s.label()+" user "+user, "is a user of the realm "+realm+" already", "give it another name")
		return trunkgroup.CredentialSpec{}, false
	}
	r.Report.adapted(s.place, s.label()+" credentialsRef", "digest user "+user+" of realm "+realm, "the password is kept as hashes for this realm only")
	return r.hash(user, realm, c.password), true
}

// singleAddr reads an address with a port or without.
func singleAddr(text string) (netip.Addr, bool) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap(), true
	}
	a, err := netip.ParseAddr(text)
	return a.Unmap(), err == nil
}
