package cdrquery

import (
	"cmp"
	"slices"

	"github.com/tandem-sbc/tandem/cdr"
)

// Call is what the nodes know of one call.
type Call struct {
	// Record is the record of the call. Nil: only the peer site's part is known, because
	// the node that has the record is away or the call is still up there.
	Record *Row
	// Handoffs are the parts of peer sites, by node. They are never rated.
	Handoffs []*Row
}

// ID is the call's id.
func (c *Call) ID() string { return c.leader().CallID }

// leader is the row that says when the call began.
func (c *Call) leader() *Row {
	if c.Record != nil {
		return c.Record
	}
	return c.Handoffs[0]
}

// Book puts together what nodes know. The zero value is empty.
type Book struct {
	calls map[string]*Call
}

// Add takes a record from whichever node, as often as it comes.
func (b *Book) Add(r *Row) {
	if b.calls == nil {
		b.calls = make(map[string]*Call)
	}
	c := b.calls[r.CallID]
	if c == nil {
		c = &Call{}
		b.calls[r.CallID] = c
	}
	if r.Kind == cdr.KindHandoff {
		c.addHandoff(r)
		return
	}
	if old := c.Record; old == nil || old.Kind == cdr.KindInterim && r.Kind == cdr.KindCall || old.Kind == r.Kind && r.Supersedes(old) {
		c.Record = r
	}
}

// addHandoff keeps one part of each site: a call goes to a peer site once (DEC-07), and a
// survivor there closes what another of its nodes had.
func (c *Call) addHandoff(r *Row) {
	for i, old := range c.Handoffs {
		if old.Site == r.Site {
			if r.Supersedes(old) {
				c.Handoffs[i] = r
			}
			return
		}
	}
	c.Handoffs = append(c.Handoffs, r)
	slices.SortFunc(c.Handoffs, func(a, b *Row) int { return cmp.Compare(a.Site, b.Site) })
}

// IDs returns the ids of all calls.
func (b *Book) IDs() []string {
	ids := make([]string, 0, len(b.calls))
	for id := range b.calls {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Calls returns the calls that are looked for, the latest first, at most as many as the
// question wants; more says that there are others. Of each call the record that counts
// must match, or the part of a peer site: what a superseded record said is void.
func (b *Book) Calls(q *Query) (list []*Call, more bool) {
	for _, c := range b.calls {
		if c.matches(q) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(x, y *Call) int {
		a, b := x.leader(), y.leader()
		return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(b.CallID, a.CallID))
	})
	if q.Limit > 0 && len(list) > q.Limit {
		return list[:q.Limit], true
	}
	return list, false
}

// matches says whether the call is looked for. A record has the attempts of a peer site
// inside, but not the Call-ID of each of its legs: the part of that site has them.
func (c *Call) matches(q *Query) bool {
	if c.Record != nil && q.Match(c.Record) {
		return true
	}
	return (c.Record == nil || q.CallID != "") && slices.ContainsFunc(c.Handoffs, q.Match)
}
