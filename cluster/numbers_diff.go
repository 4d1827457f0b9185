package cluster

import (
	"iter"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// wish is what an import wants of the number table.
type wish struct {
	rows    *trunkgroup.NumberTable // that are to be there
	remove  map[trunkgroup.Pattern]bool
	replace string // what this group has beyond rows is removed
	exactly bool   // the table is to be rows
}

// changes yields what must be changed of a table, what is removed first: a range can be replaced by
// one that overlaps it.
func (w *wish) changes(t *trunkgroup.NumberTable) iter.Seq[trunkgroup.NumberChange] {
	return func(yield func(trunkgroup.NumberChange) bool) {
		for p := range w.candidates(t) {
			if _, wanted := w.rows.Get(p); !wanted && !yield(trunkgroup.NumberChange{Pattern: p}) {
				return
			}
		}
		for p, group := range w.rows.All() {
			if now, _ := t.Get(p); now != group && !yield(trunkgroup.NumberChange{Pattern: p, Group: group}) {
				return
			}
		}
	}
}

// candidates yields the patterns of a table that may have to be removed.
func (w *wish) candidates(t *trunkgroup.NumberTable) iter.Seq[trunkgroup.Pattern] {
	return func(yield func(trunkgroup.Pattern) bool) {
		for p := range w.remove {
			if group, ok := t.Get(p); ok && (w.replace == "" || group != w.replace) && !yield(p) {
				return
			}
		}
		switch {
		case w.exactly:
			for p := range t.All() {
				if !yield(p) {
					return
				}
			}
		case w.replace != "":
			for p := range t.OfGroup(w.replace) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// correct returns what an import puts over changes that somebody else made meanwhile; t is the
// table with these.
func (w *wish) correct(t *trunkgroup.NumberTable, patterns []trunkgroup.Pattern) (rows []trunkgroup.NumberChange) {
	done := make(map[trunkgroup.Pattern]bool, len(patterns))
	for _, p := range patterns {
		if done[p] {
			continue
		}
		done[p] = true
		now, there := t.Get(p)
		switch want, ok := w.rows.Get(p); {
		case ok:
			rows = append(rows, trunkgroup.NumberChange{Pattern: p, Group: want})
		case w.remove[p], w.exactly, there && w.replace != "" && now == w.replace:
			rows = append(rows, trunkgroup.NumberChange{Pattern: p})
		}
	}
	return rows
}

// pieceOctets is how large the pieces of an import are made, with room for what an estimate misses.
const pieceOctets = fsm.MaxNumberRows - 8<<10

// pieces yields changes in pieces that fit into one command each.
func pieces(changes iter.Seq[trunkgroup.NumberChange]) iter.Seq[[]trunkgroup.NumberChange] {
	return func(yield func([]trunkgroup.NumberChange) bool) {
		var rows []trunkgroup.NumberChange
		var text []byte
		groups, size := map[string]bool{}, 0
		for c := range changes {
			text = append(text[:0], c.Pattern.String()...)
			more := len(text) + 4
			if !groups[c.Group] {
				more += len(c.Group) + 3
			}
			if size+more > pieceOctets {
				if !yield(rows) {
					return
				}
				rows, size = nil, 0
				clear(groups)
				more = len(text) + len(c.Group) + 7
			}
			rows, size = append(rows, c), size+more
			groups[c.Group] = true
		}
		if len(rows) > 0 {
			yield(rows)
		}
	}
}
