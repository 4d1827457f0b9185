package importer

import "fmt"

// Outcome says what became of one thing that was read.
type Outcome string

// The outcomes.
const (
	// Same does here what it did there.
	Same Outcome = "same"
	// Adapted does nearly the same; Why says what differs.
	Adapted Outcome = "adapted"
	// Elsewhere is no matter of the cluster document, but of the node file, the
	// network, or a system beside; Why says of which.
	Elsewhere Outcome = "elsewhere"
	// Lost has no equal, or could not be read; Why and Remedy say more.
	Lost Outcome = "lost"
)

// Item is one thing that was read, and what it became.
type Item struct {
	File    string  `json:"file,omitempty"`
	Line    int     `json:"line,omitempty"` // from 1; 0 = unknown
	Item    string  `json:"item"`           // as it was written there
	Outcome Outcome `json:"outcome"`
	Became  string  `json:"became,omitempty"` // where it stands in the document
	Why     string  `json:"why,omitempty"`
	Remedy  string  `json:"remedy,omitempty"` // what to do
}

// Report is every Item of one import, in the order of reading.
type Report struct {
	Items []Item `json:"items"`
	said  map[Item]bool
}

// Count returns how many items have an outcome.
func (r *Report) Count(o Outcome) int {
	n := 0
	for i := range r.Items {
		if r.Items[i].Outcome == o {
			n++
		}
	}
	return n
}

// place is where something was read.
type place struct {
	file string
	line int
}

func (r *Report) add(at place, o Outcome, item, became, why, remedy string) {
	it := Item{File: at.file, Line: at.line, Item: clip(mask(item)), Outcome: o, Became: mask(became), Why: mask(why), Remedy: remedy}
	if r.said[it] {
		return
	}
	if r.said == nil {
		r.said = make(map[Item]bool)
	}
	r.said[it] = true
	r.Items = append(r.Items, it)
}

func (r *Report) same(at place, item, became string) { r.add(at, Same, item, became, "", "") }

func (r *Report) adapted(at place, item, became, why string) {
	r.add(at, Adapted, item, became, why, "")
}

func (r *Report) elsewhere(at place, item, where string) {
	r.add(at, Elsewhere, item, "", where, "")
}

func (r *Report) lost(at place, item, why, remedy string) { r.add(at, Lost, item, "", why, remedy) }

// maxItem bounds what the report repeats of the input, in octets.
const maxItem = 200

// clip shortens what may be as long as a hostile file likes.
func clip(s string) string {
	if len(s) <= maxItem {
		return s
	}
	return fmt.Sprintf("%.*s... (%d octets)", maxItem, s, len(s))
}
