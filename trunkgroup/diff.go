package trunkgroup

import (
	"cmp"
	"slices"
)

// Op is what happened to a thing of the document.
type Op string

// The operations.
const (
	Added     Op = "added"
	Removed   Op = "removed"
	Changed   Op = "changed"
	Moved     Op = "moved"     // a number that another group owns now
	Reordered Op = "reordered" // the same things in another order, where the order counts
)

// Difference is one thing in which two documents differ.
type Difference struct {
	Op    Op     `json:"op"`
	What  string `json:"what"`            // document, site, customer, group, member, number, source, credential, route_plan, route
	Name  string `json:"name"`            // acme-in, acme-in/pbx-1, the number, the tuple
	Group string `json:"group,omitempty"` // of a number, a source or a credential
	Field string `json:"field,omitempty"` // of a change: weight, timers.b_timer
	Was   string `json:"was,omitempty"`
	Would string `json:"would,omitempty"`
}

// Tally counts the differences of one kind of things.
type Tally struct {
	Added     int `json:"added,omitempty"`
	Removed   int `json:"removed,omitempty"`
	Changed   int `json:"changed,omitempty"` // things that were changed, moved or reordered, each counted once
	lastNamed string
}

// Diff is everything in which two documents differ.
type Diff struct {
	Tallies map[string]*Tally `json:"tallies"` // by Difference.What
	List    []Difference      `json:"list"`
	More    int               `json:"more,omitempty"` // differences that List leaves out
	most    int
}

// Equal reports whether the documents mean the same.
func (d *Diff) Equal() bool { return len(d.List) == 0 && d.More == 0 }

// Compare says in what two documents differ: what an operator reads before he
// applies the second. List holds at most so many differences; Tallies count
// all. Nil stands for an empty document. Secrets are not shown.
func Compare(was, would *Document, most int) Diff {
	d := Diff{Tallies: make(map[string]*Tally), List: []Difference{}, most: most}
	if was == nil {
		was = &Document{}
	}
	if would == nil {
		would = &Document{}
	}
	d.trees(was, would)
	d.numbers(was, would)
	d.sources(was, would)
	slices.SortStableFunc(d.List, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(rankOf(a.What), rankOf(b.What)), cmp.Compare(a.Name, b.Name))
	})
	return d
}

// ranks is the order in which differences are told.
var ranks = [...]string{"document", "site", "customer", "group", "member", "number", "source", "credential", "route_plan", "route"}

func rankOf(what string) int { return slices.Index(ranks[:], what) }

// add notes one difference.
func (d *Diff) add(x Difference) {
	t := d.Tallies[x.What]
	if t == nil {
		t = &Tally{}
		d.Tallies[x.What] = t
	}
	switch {
	case x.Op == Added:
		t.Added++
	case x.Op == Removed:
		t.Removed++
	case t.lastNamed != x.Name: // several fields of one thing stand together
		t.Changed++
		t.lastNamed = x.Name
	}
	if len(d.List) >= d.most {
		d.More++
		return
	}
	d.List = append(d.List, x)
}
