package app

import "github.com/tandem-sbc/tandem/monitor/metrics"

func (d *rateDecks) metrics() metrics.Decks {
	all := d.app.node.Decks()
	book := d.book.Load()
	m := metrics.Decks{
		Edition: all.Version.Revision, Since: all.At, Open: len(all.Uploads), Imported: d.imports.Load(), Refused: d.refused.Load(),
	}
	if book != nil {
		m.Faults = len(book.Faults())
	}
	for i := range all.List {
		x := &all.List[i]
		row := metrics.Deck{Name: x.Name, Edition: x.Edition, Imported: x.At, Rows: int(x.Rows)}
		if known, ok := book.Deck(x.Name); ok {
			row.Carriers = len(known.Deck.Carriers())
		}
		m.List = append(m.List, row)
	}
	return m
}
