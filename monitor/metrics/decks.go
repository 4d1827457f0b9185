package metrics

import "time"

// Decks is the rate decks beside the document, as this node runs them.
type Decks struct {
	Edition uint64
	Since   time.Time // since when it runs
	List    []Deck
	Faults  int // plans whose decks are not there or do not go together
	Open    int // uploads under way
	// Imported and Refused count imports that were asked of this node.
	Imported, Refused uint64
}

// Deck is one rate deck.
type Deck struct {
	Name     string
	Edition  uint64
	Imported time.Time // when it was proposed
	Rows     int
	Carriers int
}

var (
	descDecksEdition = desc("decks_edition", "Edition of the rate decks that this node routes by.")
	descDecksSince   = desc("decks_edition_timestamp_seconds", "When this node began to route by the edition.")
	descDeckRows     = desc("deck_rows", "Rows of a rate deck.", "deck")
	descDeckCarriers = desc("deck_carriers", "Carriers of a rate deck; 0 of one with what customers pay.", "deck")
	descDeckEdition  = desc("deck_edition", "Edition in which a rate deck came into force.", "deck")
	descDeckImported = desc("deck_imported_timestamp_seconds", "When a rate deck was imported.", "deck")
	descDeckFaults   = desc("deck_plans_faulty", "Route plans whose rate decks are not there or do not go together; their calls get 503.")
	descDeckOpen     = desc("deck_uploads_open", "Uploads of rate decks that are under way in the cluster.")
	descDeckImports  = desc("deck_imports_total", "Imports of rate decks that were asked of this node.", "result")
)

func (p page) decks(d *Decks) {
	p.gauge(descDecksEdition, float64(d.Edition))
	if !d.Since.IsZero() {
		p.gauge(descDecksSince, float64(d.Since.UnixMilli())/1000)
	}
	for i := range d.List {
		x := &d.List[i]
		p.gauge(descDeckRows, float64(x.Rows), x.Name)
		p.gauge(descDeckCarriers, float64(x.Carriers), x.Name)
		p.gauge(descDeckEdition, float64(x.Edition), x.Name)
		if !x.Imported.IsZero() {
			p.gauge(descDeckImported, float64(x.Imported.UnixMilli())/1000, x.Name)
		}
	}
	p.gauge(descDeckFaults, float64(d.Faults))
	p.gauge(descDeckOpen, float64(d.Open))
	p.counter(descDeckImports, d.Imported, "applied")
	p.counter(descDeckImports, d.Refused, "refused")
}
