package registrar

import (
	"net/netip"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// maxRequested bounds the contacts of one REGISTER.
	maxRequested = 100
	// maxURI bounds the URI of a contact or of a path, maxPath their number.
	maxURI  = 512
	maxPath = 8
	// maxText bounds what is kept for people: instance, user agent.
	maxText = 128
	// maxSessions bounds what a PBX can say of its sessions.
	maxSessions = 1_000_000
	// defaultExpires is what a REGISTER without any word on it asks for, or one
	// with a word that is none (RFC 3261 20.19).
	defaultExpires = time.Hour
)

// Origin is where a REGISTER came from.
type Origin struct {
	Source, Local netip.AddrPort
	Transport     trunkgroup.Transport
	Flow          uint64
	// Advertise is how far ends know the listener.
	Advertise string
	// FlowExpires caps what is granted by a connection, which ends when nothing
	// comes by it for too long; 0 does not.
	FlowExpires time.Duration
}

// Request is a REGISTER whose sender is known.
type Request struct {
	AOR      string
	Member   *trunkgroup.Member
	User     string // digest user
	From     Origin
	CallID   uint64
	CSeq     uint32
	Star     bool // removes all (RFC 3261 10.2.2)
	Contacts []Contact
	Path     []string
	Agent    string
	Sessions int // -1 = not reported

	echoPath      bool // the sender knows what a Path is (RFC 3327 5.3)
	outbound, gin bool // in force for this REGISTER
}

// Contact is one contact of a REGISTER.
type Contact struct {
	ID       string
	URI      string
	Q        int
	Expires  time.Duration // granted; 0 removes
	Addr     netip.AddrPort
	Reach    trunkgroup.Reach
	Instance string
	RegID    uint32
	Bulk     bool
}

// Refusal is an answer other than 200.
type Refusal struct {
	Code   int
	Reason string // empty for the usual one of the code
	Extra  string // complete header lines
	Result string // word of ours for metrics
}

func refuse(code int, reason, result string) *Refusal {
	return &Refusal{Code: code, Reason: reason, Result: result}
}

// AOR returns the address of record that a REGISTER is about, in canonical
// form, and false when there is none.
func AOR(m *sip.Message) (string, bool) {
	to, err := sip.ParseNameAddr(m.Header(sip.To))
	if err != nil {
		return "", false
	}
	aor, _, _, err := trunkgroup.ParseAOR(string(to.URI))
	return aor, err == nil
}

// Parse takes a REGISTER apart. The member and the digest user have been found
// to belong together.
func Parse(m *sip.Message, member *trunkgroup.Member, user string, from Origin) (*Request, *Refusal) {
	r := &Request{
		AOR: member.Registration.AOR, Member: member, User: user, From: from,
		CallID: xxhash.Sum64(m.CallID()), CSeq: m.CSeq(), Sessions: sessions(m),
		Agent: printable(m.Header(sip.UserAgent)), echoPath: m.HasOption(sip.Supported, "path"),
	}
	if fault := r.extensions(m); fault != nil {
		return nil, fault
	}
	if fault := r.path(m); fault != nil {
		return nil, fault
	}
	if fault := r.contacts(m); fault != nil {
		return nil, fault
	}
	if fault := r.bulk(); fault != nil {
		return nil, fault
	}
	return r, nil
}

// extensions looks at what the sender requires: path, outbound and gin are
// known here.
func (r *Request) extensions(m *sip.Message) *Refusal {
	unknown := ""
	for _, id := range [...]sip.HeaderID{sip.Require, sip.ProxyRequire} {
		m.EachOf(id, func(v []byte) bool {
			switch option := lower(v); option {
			case "path", "outbound":
			case "gin":
				r.gin = true
			default:
				if unknown != "" {
					unknown += ", "
				}
				unknown += string(v)
			}
			return len(unknown) < maxURI
		})
	}
	if unknown != "" {
		return &Refusal{Code: 420, Extra: "Unsupported: " + unknown + "\r\n", Result: "extension"}
	}
	r.outbound = m.HasOption(sip.Supported, "outbound") || m.HasOption(sip.Require, "outbound")
	return nil
}

// path takes the proxies that the REGISTER came through (RFC 3327).
func (r *Request) path(m *sip.Message) *Refusal {
	fault := (*Refusal)(nil)
	m.EachOf(sip.Path, func(v []byte) bool {
		a, err := sip.ParseNameAddr(v)
		if err == nil {
			_, err = sip.ParseURI(a.URI)
		}
		if err != nil || len(v) > maxURI || len(r.Path) == maxPath {
			fault = refuse(400, "Bad Path", "path")
			return false
		}
		r.Path = append(r.Path, string(v))
		return true
	})
	if fault == nil && r.outbound && m.Count(sip.Via) > 1 && !r.edge() {
		// Only what the first proxy marks can be kept by a connection of its
		// (RFC 5626 6); the contact is then known by its URI.
		r.outbound = false
	}
	return fault
}

// edge tells whether the proxy that is next to the sender keeps its connection.
func (r *Request) edge() bool {
	if len(r.Path) == 0 {
		return false
	}
	a, err := sip.ParseNameAddr([]byte(r.Path[len(r.Path)-1]))
	if err != nil {
		return false
	}
	u, err := sip.ParseURI(a.URI)
	if err != nil {
		return false
	}
	_, ob := u.Param("ob")
	return ob
}

// sessions reads how many calls a PBX says to have.
func sessions(m *sip.Message) int {
	n := -1
	m.EachNamed("X-Session-Count", func(v []byte) bool {
		if k, ok := number(v, maxSessions); ok {
			n = int(k)
		}
		return false
	})
	return n
}
