package metrics

import "time"

// Numbers is the number table beside the document, as this node runs it.
type Numbers struct {
	Edition  uint64
	Since    time.Time // since when it runs
	Patterns int
	Orphans  int // patterns that own nothing, since their group is not in the document
	Open     int // imports under way
	// Imported and Failed count imports that were asked of this node.
	Imported, Failed uint64
}

var (
	descNumbers        = desc("numbers", "Patterns in the number table that this node routes by.")
	descNumbersEdition = desc("numbers_edition", "Edition of the number table that this node routes by.")
	descNumbersSince   = desc("numbers_edition_timestamp_seconds", "When this node began to route by the edition.")
	descNumbersOrphans = desc("numbers_orphaned", "Patterns of the number table that own nothing: the document does not have their group.")
	descNumbersOpen    = desc("number_imports_open", "Imports of numbers that are under way in the cluster.")
	descNumbersImports = desc("number_imports_total", "Imports of numbers that were asked of this node.", "result")
)

func (p page) numbers(n Numbers) {
	p.gauge(descNumbers, float64(n.Patterns))
	p.gauge(descNumbersEdition, float64(n.Edition))
	if !n.Since.IsZero() {
		p.gauge(descNumbersSince, float64(n.Since.UnixMilli())/1000)
	}
	p.gauge(descNumbersOrphans, float64(n.Orphans))
	p.gauge(descNumbersOpen, float64(n.Open))
	p.counter(descNumbersImports, n.Imported, "applied")
	p.counter(descNumbersImports, n.Failed, "refused")
}
