package b2bua

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// doorEvents lists what was counted of digests, and from where.
func (w *world) doorEvents() (list []string) {
	for _, e := range w.events {
		switch e.Kind {
		case EventAuthenticated:
			list = append(list, "ok "+e.Source.Addr().String())
		case EventAuthFailure:
			list = append(list, e.Reason+" "+e.Source.Addr().String())
		}
	}
	return list
}

// shape is what two answers must have in common so that nobody tells them apart: all
// but the values that differ by themselves.
func shape(m *sip.Message) string {
	var b strings.Builder
	b.Write(m.Reason())
	m.Each(func(h sip.Header) bool {
		b.WriteString(string(h.Name) + ":")
		if h.ID != sip.To && h.ID != sip.WWWAuthenticate && h.ID != sip.CallID && h.ID != sip.From && h.ID != sip.Via {
			b.Write(h.Value)
		}
		b.WriteString("\n")
		return true
	})
	return b.String()
}

// A group's access list: right credentials from elsewhere are answered as wrong ones
// are, and a source that it keeps out as a stranger is.
func TestACL_KeptOutIsAStranger(t *testing.T) {
	for _, c := range []struct {
		name, password string
		acl            trunkgroup.ACLSpec
		want, event    string
	}{
		{"no list", "secret", trunkgroup.ACLSpec{}, "", "ok"},
		{"let in", "secret", trunkgroup.ACLSpec{Allow: []string{netip.MustParseAddrPort(strangerAddr).Addr().String()}}, "", "ok"},
		{"kept out", "secret", trunkgroup.ACLSpec{Allow: []string{"10.0.0.0/8"}}, "SIP/2.0 401", "acl"},
		{"wrong", "guess", trunkgroup.ACLSpec{}, "SIP/2.0 401", "digest"},
	} {
		doc := usersDocument(secretsOf("anna", "sip.example.com", trunkgroup.AlgorithmMD5))
		doc.TrunkGroups[len(doc.TrunkGroups)-1].ACL = c.acl
		w := newWorldOf(t, "dal-1", "dallas", doc)
		w.from(strangerAddr, stranger("sip.example.com", 1000, ""))
		first := w.take(strangerAddr, "SIP/2.0 401")
		list, _ := challengesIn(t, first)
		w.events = nil
		w.from(strangerAddr, strings.Replace(stranger("sip.example.com", 1000, answeredBy(t, list[0], "anna", c.password, "sip.example.com")), "z9hG4bK", "z9hG4bK2", 1))
		if got := w.doorEvents(); len(got) != 1 || !strings.HasPrefix(got[0], c.event+" ") {
			t.Errorf("%s: counted %v, want %s", c.name, got, c.event)
		}
		if c.want == "" {
			w.none(strangerAddr, "SIP/2.0 401")
			continue
		}
		if got, want := shape(w.take(strangerAddr, c.want)), shape(first); got != want {
			t.Errorf("%s: the answer is\n%s\nand a stranger's is\n%s", c.name, got, want)
		}
	}
}

// No answer to a stranger names the product.
func TestStrangersSeeNoProduct(t *testing.T) {
	w := newWorldOf(t, "dal-1", "dallas", usersDocument(secretsOf("anna", "sip.example.com", trunkgroup.AlgorithmMD5)))
	for _, method := range []string{"INVITE", "OPTIONS", "REGISTER", "MESSAGE", "SUBSCRIBE", "BYE", "PUBLISH", "REFER", "FOO"} {
		text := strings.NewReplacer("INVITE sip", method+" sip", " INVITE\r\n", " "+method+"\r\n", "z9hG4bK", "z9hG4bK"+method).Replace(stranger("sip.example.com", 1000, ""))
		w.from(strangerAddr, text)
		m := w.take(strangerAddr, "SIP/2.0 ")
		if m.Has(sip.Server) || m.Has(sip.UserAgent) || strings.Contains(strings.ToLower(string(m.Raw())), "tandem") {
			t.Errorf("%s is answered\n%s", method, m.Raw())
		}
	}
}
