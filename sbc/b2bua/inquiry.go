package b2bua

import (
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/sbc/number"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Inquiry is an INVITE that might come: somebody asks what would become of it. What
// a distribution would take from the call is read by the same code.
type Inquiry struct {
	Message  *sip.Message
	Source   netip.AddrPort
	User     string // digest user, taken as proven
	Seed     uint64 // of the hashes that all nodes compute alike
	Sessions Sessions
	Now      time.Time
}

// Ask fills in what a question to Explain has of the message. Turn and chance are
// those of q.Draw.
func (i *Inquiry) Ask(q *trunkgroup.Query) error {
	uri, err := sip.ParseURI(i.Message.RequestURI())
	if err != nil {
		return err
	}
	q.Called, q.Host, q.Secure = uri.User, uri.Host, uri.Scheme == "sips"
	from := addressOf(i.Message.Header(sip.From))
	q.Caller, q.Username, q.NumberPolicy = from.Number(), i.User, number.Policy()
	c := &Call{
		s:   &Shard{cfg: Config{Sessions: i.Sessions}, seed: i.Seed, now: i.Now},
		msg: i.Message, user: i.User, source: i.Source,
	}
	q.Draws = func(d *trunkgroup.Decision, g *trunkgroup.Group) trunkgroup.Draw {
		if d.Ingress != nil { // else it is handed over, with what its own site has seen
			c.called, c.ingress = d.Called, d.Ingress
		}
		draw := q.Draw
		draw.Unbounded = c.emergency()
		if g.NeedsTraits() {
			draw.Traits = c.traits()
		}
		c.affinity(g, &draw)
		return draw
	}
	return nil
}
