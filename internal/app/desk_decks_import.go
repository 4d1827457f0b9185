package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/deck"
)

// ImportDeck implements admin.Decks: the list is read whole before anything is changed.
func (d *desk) ImportDeck(ctx context.Context, list io.Reader, i admin.DeckImport) (admin.DeckApplied, error) {
	start := time.Now()
	out, err := d.importDeck(ctx, list, &i)
	out.Deck, out.DryRun, out.Millis = i.Name, i.DryRun, time.Since(start).Milliseconds()
	switch {
	case i.DryRun:
	case err == nil:
		d.app.decks.imports.Add(1)
	default:
		d.app.decks.refused.Add(1)
	}
	return out, deckError(err)
}

func (d *desk) importDeck(ctx context.Context, list io.Reader, i *admin.DeckImport) (admin.DeckApplied, error) {
	out := admin.DeckApplied{Notes: []string{}}
	if !trunkgroup.IsDeckName(i.Name) {
		return out, as(admin.ErrInvalid, fmt.Errorf("%q is no name of a rate deck; use at most 63 letters, digits, and - . _ inside", i.Name))
	}
	rows, err := deck.ReadCSV(list, deck.CSV{
		Carrier: cmp.Or(i.Carrier, i.OnlyCarrier), Group: i.Group, Currency: i.Currency, KnownGroup: d.providing, KnownPolicy: d.writing,
	})
	if err != nil {
		return out, err
	}
	for try := 1; ; try++ {
		out, err = d.putDeck(ctx, rows, i)
		if i.OnlyCarrier == "" || i.Expect != nil || try == maxMerges {
			return out, err
		}
		if _, changed := errors.AsType[*fsm.DecksEditionError](err); !changed {
			return out, err
		}
	}
}

// maxMerges is how often the rows of one carrier are put into a deck that others change at
// the same time.
const maxMerges = 5

// putDeck makes rows the deck, or those of one carrier in it. These are put into the edition
// that they were put together with or into none: the rows of another carrier, of an import at
// the same time, would be gone.
func (d *desk) putDeck(ctx context.Context, rows *deck.Deck, i *admin.DeckImport) (admin.DeckApplied, error) {
	out, next, expect := admin.DeckApplied{Notes: []string{}}, rows, i.Expect
	seen := d.app.node.Decks().Version.Revision // not newer than the book
	before, there := d.app.decks.book.Load().Deck(i.Name)
	if there {
		out.Before = before.Deck.Len()
	}
	var err error
	if i.OnlyCarrier != "" {
		expect = cmp.Or(expect, &seen)
		if there {
			next, err = before.Deck.With(next, i.OnlyCarrier)
		}
	}
	if err != nil {
		return out, as(admin.ErrInvalid, err)
	}
	out.Kind, out.Currency, out.Rows, out.Carriers = deckKind(next.Sells()), next.Currency(), next.Len(), len(next.Carriers())
	if next.Len() == 0 {
		return out, as(admin.ErrInvalid, errors.New("the list has no rows; to take a deck out there is tandem deck remove"))
	}
	if out.Notes, err = d.deckFits(i.Name, next); err != nil {
		return out, err
	}
	data, err := next.Encode()
	if err != nil {
		return out, as(admin.ErrInvalid, err)
	}
	out.Octets = len(data)
	all := d.app.node.Decks()
	out.Generation, out.Edition = all.Version.Generation, all.Version.Revision
	if i.DryRun || ctx.Err() != nil {
		return out, ctx.Err()
	}
	v, changed, err := d.app.node.ImportDeck(ctx, cluster.DeckImport{
		Name: i.Name, Data: data, Rows: next.Len(), Sells: next.Sells(), Currency: next.Currency(),
		Author: i.Author, Reason: i.Reason, Key: i.Key, Expect: expect,
	})
	out.Generation, out.Edition, out.Unchanged = v.Generation, v.Revision, !changed
	return out, err
}

// deckFits refuses a deck with which a plan could not be gone by any more that can be now, and
// notes what may not be meant.
func (d *desk) deckFits(name string, next *deck.Deck) ([]string, error) {
	notes := []string{}
	now, then := d.app.decks.book.Load(), d.app.decks.with(deck.Named{Name: name, Deck: next})
	var was []deck.Fault
	if now != nil {
		was = now.Faults()
	}
	for _, f := range then.Faults() {
		if !slices.ContainsFunc(was, func(w deck.Fault) bool { return w.Plan == f.Plan }) {
			return notes, as(admin.ErrRefused, fmt.Errorf("with this deck plan %s could not be gone by: %s", f.Plan, f.Why))
		}
		notes = append(notes, fmt.Sprintf("plan %s cannot be gone by yet: %s", f.Plan, f.Why))
	}
	if len(then.PlansOf(name)) == 0 {
		notes = append(notes, "no route plan goes by this deck")
	}
	if over := expired(next, time.Now()); over > 0 {
		notes = append(notes, fmt.Sprintf("%d rows are over already", over))
	}
	return notes, nil
}

// expired counts the rows that will never be in effect again.
func expired(d *deck.Deck, now time.Time) (rows int) {
	for r := range d.All() {
		if !r.To.IsZero() && !now.Before(r.To) {
			rows++
		}
	}
	return rows
}

// providing tells whether rows may name a group, and if not what to do about it.
func (d *desk) providing(group string) (remedy string, ok bool) {
	t := d.app.node.Table()
	if t == nil {
		return "wait until this node has a configuration", false
	}
	switch g := t.Group(group); {
	case g == nil:
		var names []string
		for _, g := range t.Groups() {
			if g.Role == trunkgroup.PSTNProvider {
				names = append(names, g.Name)
			}
		}
		return cmp.Or(trunkgroup.Suggest(group, names), "add the group to the document first, or name another one"), false
	case g.Role != trunkgroup.PSTNProvider:
		return "name a group of role pstn-provider", false
	}
	return "", true
}

// writing tells the same of a number policy.
func (d *desk) writing(policy string) (remedy string, ok bool) {
	t := d.app.node.Table()
	if t == nil {
		return "wait until this node has a configuration", false
	}
	if t.NumberPolicy(policy) != nil {
		return "", true
	}
	var names []string
	for _, p := range t.Document().NumberPolicies {
		names = append(names, p.Name)
	}
	return cmp.Or(trunkgroup.Suggest(policy, names), "the document has "+cmp.Or(strings.Join(names, ", "), "none")), false
}
