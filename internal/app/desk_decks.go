package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
	"github.com/tandem-sbc/tandem/trunkgroup/deck"
)

// Decks implements admin.Decks.
func (d *desk) Decks(context.Context) (admin.DeckList, error) {
	all, book := d.app.node.Decks(), d.app.decks.book.Load()
	out := admin.DeckList{
		Generation: all.Version.Generation, Edition: all.Version.Revision, Source: all.Source,
		Decks: []admin.DeckHead{}, Uploads: []admin.DeckUpload{}, Faults: []admin.DeckFault{},
	}
	if !all.At.IsZero() {
		out.Since = &all.At
	}
	for i := range all.List {
		out.Decks = append(out.Decks, deckHead(&all.List[i], book))
	}
	for i := range all.Uploads {
		u := &all.Uploads[i]
		out.Uploads = append(out.Uploads, admin.DeckUpload{Deck: u.Deck, Author: u.Author, Reason: u.Reason, Since: u.Opened, Octets: u.Size, Have: u.Have})
	}
	if book != nil {
		for _, f := range book.Faults() {
			out.Faults = append(out.Faults, admin.DeckFault{Plan: f.Plan, Why: f.Why})
		}
	}
	return out, nil
}

func deckHead(x *fsm.Deck, book *deck.Book) admin.DeckHead {
	h := admin.DeckHead{
		Name: x.Name, Kind: deckKind(x.Sells), Currency: x.Currency, Rows: x.Rows, Octets: x.Size, Edition: x.Edition,
		Author: x.Author, Reason: x.Reason, At: x.At, Plans: []string{},
	}
	if book != nil {
		h.Plans = slices.Concat(h.Plans, book.PlansOf(x.Name))
	}
	return h
}

func deckKind(sells bool) string {
	if sells {
		return "sell"
	}
	return "cost"
}

// noDeck is the error of a name that no deck has.
func (d *desk) noDeck(name string) error {
	var names []string
	for _, x := range d.app.node.Decks().List {
		names = append(names, x.Name)
	}
	text := fmt.Sprintf("there is no rate deck %q", name)
	if s := trunkgroup.Suggest(name, names); s != "" {
		text += "; " + s
	}
	return as(admin.ErrNotFound, errors.New(text))
}

// ShowDeck implements admin.Decks.
func (d *desk) ShowDeck(_ context.Context, name string) (admin.DeckInfo, error) {
	book := d.app.decks.book.Load()
	known, ok := book.Deck(name)
	all := d.app.node.Decks()
	i := slices.IndexFunc(all.List, func(x fsm.Deck) bool { return x.Name == name })
	if !ok || i < 0 {
		return admin.DeckInfo{}, d.noDeck(name)
	}
	out := admin.DeckInfo{
		DeckHead: deckHead(&all.List[i], book), Prefixes: known.Deck.Prefixes(), Carriers: []admin.DeckCarrier{}, Unknown: []string{},
	}
	if t := d.app.node.Table(); t != nil {
		out.Unknown = slices.Concat(out.Unknown, strangers(t, known.Deck))
	}
	at := map[string]int{}
	for _, c := range known.Deck.Carriers() {
		at[c] = len(out.Carriers)
		out.Carriers = append(out.Carriers, admin.DeckCarrier{Carrier: c})
	}
	if known.Deck.Sells() {
		return out, nil
	}
	now := time.Now()
	for r := range known.Deck.All() {
		c := &out.Carriers[at[r.Carrier]]
		c.Rows++
		if r.Blocked {
			c.Blocked++
		}
		switch {
		case r.From.After(now):
			c.Later++
		case !r.To.IsZero() && !now.Before(r.To):
			c.Over++
		}
	}
	return out, nil
}

// QuoteDeck implements admin.Decks: it asks what calls ask.
func (d *desk) QuoteDeck(_ context.Context, q admin.DeckQuestion) (admin.DeckQuote, error) {
	if q.At.IsZero() {
		q.At = time.Now()
	}
	book := d.app.decks.book.Load()
	if q.Plan == "" && q.Deck == "" {
		plan, err := d.onlyDeckPlan()
		if err != nil {
			return admin.DeckQuote{}, err
		}
		q.Plan = plan
	}
	if q.Plan != "" && q.Deck != "" {
		return admin.DeckQuote{}, as(admin.ErrInvalid, errors.New("a number is quoted by a plan or by a deck: name one of them"))
	}
	var v deck.Quote
	var ok bool
	if q.Deck != "" {
		if v, ok = book.QuoteDeck(q.Deck, q.Number, q.At); !ok {
			return admin.DeckQuote{}, d.noDeck(q.Deck)
		}
	} else if v, ok = book.Quote(q.Plan, q.Number, q.At); !ok {
		return admin.DeckQuote{}, as(admin.ErrNotFound, fmt.Errorf("there is no route plan %q that goes by rate decks", q.Plan))
	}
	return quoteOf(&v, d.app.node.Decks().Version.Revision), nil
}

// onlyDeckPlan is the plan that is meant when none is named.
func (d *desk) onlyDeckPlan() (string, error) {
	var plans []string
	if t := d.app.node.Table(); t != nil {
		for _, p := range t.Document().RoutePlans {
			if p.Deck != nil {
				plans = append(plans, p.Name)
			}
		}
	}
	if len(plans) == 1 {
		return plans[0], nil
	}
	return "", as(admin.ErrInvalid, fmt.Errorf("%d route plans go by rate decks; name a plan or a deck", len(plans)))
}

func quoteOf(v *deck.Quote, edition uint64) admin.DeckQuote {
	out := admin.DeckQuote{
		Number: v.Number, At: v.At, Edition: edition, Currency: v.Currency, Routes: v.Routes, Until: moment(v.Until), Why: v.Why,
		Carriers: []admin.DeckPrice{},
	}
	if v.Sold != nil {
		sold := deckPrice(v.Sold)
		out.Sold = &sold
	}
	for i := range v.Carriers {
		out.Carriers = append(out.Carriers, deckPrice(&v.Carriers[i]))
	}
	return out
}

func deckPrice(l *deck.Line) admin.DeckPrice {
	p := admin.DeckPrice{
		Carrier: l.Carrier, Group: l.Group, Prefix: l.Prefix, Increment: l.Increment, MinDuration: l.MinDuration, Priority: l.Priority,
		From: moment(l.From), To: moment(l.To), Margin: l.Margin, LeftOut: l.LeftOut,
	}
	if l.Prefix != "" {
		p.Rate = rateText(&l.Row)
	}
	if l.Scored {
		p.ASR = &l.Score
	}
	for i := range l.Next {
		n := &l.Next[i]
		p.Next = append(p.Next, admin.DeckNext{Prefix: n.Prefix, Rate: rateText(n), From: n.From})
	}
	return p
}

func rateText(r *deck.Row) string {
	if r.Blocked {
		return "block"
	}
	return r.Price.String()
}

// DeckHistory implements admin.Decks.
func (d *desk) DeckHistory(context.Context) (admin.DeckHistory, error) {
	h := admin.DeckHistory{Changes: []admin.DeckRecord{}}
	for _, r := range d.app.node.DecksHistory() {
		h.Changes = append(h.Changes, admin.DeckRecord{
			Generation: r.Version.Generation, Edition: r.Version.Revision, Deck: r.Deck, Removed: r.Removed,
			Author: r.Author, Reason: r.Reason, At: r.At, Rows: r.Rows,
		})
	}
	return h, nil
}

// ExportDeck implements admin.Decks.
func (d *desk) ExportDeck(ctx context.Context, w io.Writer, name string) error {
	known, ok := d.app.decks.book.Load().Deck(name)
	if !ok {
		return d.noDeck(name)
	}
	return known.Deck.Export(w, ctx.Err)
}

// RemoveDeck implements admin.Decks.
func (d *desk) RemoveDeck(ctx context.Context, r admin.DeckRemoval) (admin.DeckApplied, error) {
	start := time.Now()
	out := admin.DeckApplied{Deck: r.Name, Notes: []string{}}
	all := d.app.node.Decks()
	i := slices.IndexFunc(all.List, func(x fsm.Deck) bool { return x.Name == r.Name })
	if i < 0 {
		return out, d.noDeck(r.Name)
	}
	if plans := d.app.decks.book.Load().PlansOf(r.Name); len(plans) > 0 && !r.Force {
		return out, as(admin.ErrRefused, fmt.Errorf("route plans go by rate deck %q: %v; their calls would get 503: change the plans first, or force it", r.Name, plans))
	}
	out.Before = int(all.List[i].Rows)
	v, err := d.app.node.RemoveDeck(ctx, cluster.DeckRemoval{Name: r.Name, Author: r.Author, Reason: r.Reason, Expect: r.Expect, Key: r.Key})
	out.Generation, out.Edition, out.Millis = v.Generation, v.Revision, time.Since(start).Milliseconds()
	return out, deckError(err)
}

// deckError says in the API's words why rate decks were not changed.
func deckError(err error) error {
	if edition, ok := errors.AsType[*fsm.DecksEditionError](err); ok {
		return as(admin.ErrRefused, fmt.Errorf("edition %d of the rate decks was expected and %d is in force; look at what changed, and try again",
			edition.Expected, edition.Have.Revision))
	}
	return adminError(err)
}
