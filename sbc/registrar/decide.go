package registrar

import (
	"cmp"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Node is what a record gets from the node that takes a REGISTER.
type Node struct {
	Name, Site string
	Boot       uint32
}

// Decision is what a REGISTER changes. All of it is done, or with a Refusal
// nothing.
type Decision struct {
	Put     []*Record
	Remove  []*Record
	Refusal *Refusal
	// Fresh is how many of Put are new.
	Fresh int
	// Result is a word of ours for metrics: registered, refreshed, removed,
	// queried, or what the refusal says.
	Result string
}

// Decide compares a REGISTER with the bindings that the AOR has. reachable
// tells whether a call could be sent to one now: when there are too many,
// those that cannot be reached give way, the oldest first.
func Decide(now time.Time, self Node, r *Request, have []*Record, reachable func(*Record) bool) Decision {
	var d Decision
	if r.late(have) {
		return d.refused(refuse(400, "CSeq Is Not Above That of the Last REGISTER", "order"))
	}
	switch {
	case r.Star:
		d.Remove, d.Result = have, "removed"
		return d
	case len(r.Contacts) == 0:
		d.Result = "queried"
		return d
	}
	d.Result = "removed"
	for i := range r.Contacts {
		if r.repeated(i) {
			continue
		}
		c := &r.Contacts[i]
		was := find(have, c.ID)
		switch {
		case c.Expires == 0 && was != nil:
			d.Remove = append(d.Remove, was)
		case c.Expires > 0:
			if was == nil {
				d.Fresh++
				d.Result = "registered"
			} else if d.Result != "registered" {
				d.Result = "refreshed"
			}
			d.Put = append(d.Put, r.record(now, self, c, was))
		}
	}
	d.replace(r, have)
	if over := len(have) + d.Fresh - len(d.Remove) - r.Member.Registration.Contacts; over > 0 && d.Fresh > 0 && !d.giveWay(over, have, reachable) {
		return d.refused(&Refusal{Code: 403, Reason: "Exceeds the Allowed Number of Contacts", Result: "contacts"})
	}
	return d
}

func (d *Decision) refused(f *Refusal) Decision { return Decision{Refusal: f, Result: f.Result} }

// late reports that a REGISTER came after a later one of its Call-ID: the whole
// update fails (RFC 3261 10.3 step 7).
func (r *Request) late(have []*Record) bool {
	for _, was := range have {
		if was.CallID != r.CallID || r.CSeq > was.CSeq {
			continue
		}
		if r.Star || slices.ContainsFunc(r.Contacts, func(c Contact) bool { return c.ID == was.ID }) {
			return true
		}
	}
	return false
}

// repeated reports that a later contact of the REGISTER is the same one: that
// one counts.
func (r *Request) repeated(i int) bool {
	return slices.ContainsFunc(r.Contacts[i+1:], func(c Contact) bool { return c.ID == r.Contacts[i].ID })
}

func find(have []*Record, id string) *Record {
	for _, was := range have {
		if was.ID == id {
			return was
		}
	}
	return nil
}

func (r *Request) record(now time.Time, self Node, c *Contact, was *Record) *Record {
	rec := &Record{
		Binding: trunkgroup.Binding{
			AOR: r.AOR, ID: c.ID, Contact: c.URI, Path: r.Path, Transport: r.From.Transport, Addr: c.Addr, Reach: c.Reach,
			Node: self.Name, Site: self.Site, Boot: self.Boot, Local: r.From.Local, Advertise: r.From.Advertise, Flow: r.From.Flow, Q: c.Q,
			Sessions: r.Sessions, Bulk: r.gin, Instance: c.Instance, Agent: r.Agent, User: r.User,
			Since: now, Expires: now.Add(c.Expires),
		},
		CallID: r.CallID, CSeq: r.CSeq, RegID: c.RegID, Taken: now, Changed: now,
	}
	if was != nil {
		rec.Since = was.Since
	}
	return rec
}

// replace removes what a far end left behind when it came back by another
// connection: a binding by a connection that has ended, or that this REGISTER
// says not to use any more by coming with its Call-ID. One with a reg-id says
// itself which connection it replaces (RFC 5626).
func (d *Decision) replace(r *Request, have []*Record) {
	if len(d.Put) == 0 || r.From.Flow == 0 {
		return
	}
	for _, was := range have {
		if was.RegID != 0 || was.Reach != trunkgroup.ReachFlow || was.Flow == r.From.Flow ||
			find(d.Put, was.ID) != nil || find(d.Remove, was.ID) != nil {
			continue
		}
		twin := func(p *Record) bool { return p.Instance != "" && p.Instance == was.Instance }
		if was.CallID == r.CallID || was.Gone() && slices.ContainsFunc(d.Put, twin) {
			d.Remove = append(d.Remove, was)
		}
	}
}

// giveWay removes n bindings that cannot be reached; false when there are not
// so many.
func (d *Decision) giveWay(n int, have []*Record, reachable func(*Record) bool) bool {
	var idle []*Record
	for _, was := range have {
		if find(d.Put, was.ID) == nil && find(d.Remove, was.ID) == nil && !reachable(was) {
			idle = append(idle, was)
		}
	}
	if len(idle) < n {
		return false
	}
	slices.SortStableFunc(idle, func(a, b *Record) int { return cmp.Compare(a.Changed.UnixNano(), b.Changed.UnixNano()) })
	d.Remove = append(d.Remove, idle[:n]...)
	return true
}
