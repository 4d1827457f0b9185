package trunkgroup

import "sort"

// numberEdit puts a value under a key, or takes the key out.
type numberEdit[V any] struct {
	key   number
	value V
	gone  bool
}

// with returns the map after the edits, which are sorted by key and have each
// key once.
func (m *numberMap[V]) with(edits []numberEdit[V]) numberMap[V] {
	if len(edits) == 0 {
		return *m
	}
	var w numberMapWriter[V]
	w.size = m.size
	w.firsts, w.branches = make([]number, 0, len(m.firsts)+1), make([]*numberBranch[V], 0, len(m.firsts)+1)
	if len(m.branches) == 0 {
		(*numberLeaf[V])(nil).edit(0, edits, &w)
	}
	for i, b := range m.branches {
		mine := edits
		if i+1 < len(m.branches) {
			mine = editsBelow(edits, m.firsts[i+1])
		}
		edits = edits[len(mine):]
		if len(mine) == 0 {
			w.branch(b)
		} else {
			b.edit(mine, &w)
		}
	}
	return w.done()
}

// editsBelow returns the edits of keys below n.
func editsBelow[V any](edits []numberEdit[V], n number) []numberEdit[V] {
	return edits[:sort.Search(len(edits), func(i int) bool { return edits[i].key >= n })]
}

// edit writes the branch after the edits.
func (b *numberBranch[V]) edit(edits []numberEdit[V], w *numberMapWriter[V]) {
	for i, leaf := range b.leaves {
		mine := edits
		if i+1 < len(b.leaves) {
			mine = editsBelow(edits, b.firsts[i+1])
		}
		edits = edits[len(mine):]
		if len(mine) == 0 {
			w.leaf(b.firsts[i], leaf)
		} else {
			leaf.edit(b.firsts[i], mine, w)
		}
	}
}

// edit writes the leaf after the edits, in parts of equal size when it is more
// than one now. A nil leaf is empty.
func (l *numberLeaf[V]) edit(first number, edits []numberEdit[V], w *numberMapWriter[V]) {
	size := 0
	if l != nil {
		size = int(l.size)
	}
	key := func(at int) number { return first + number(l.keys[at]) }
	count := size
	for i := range edits {
		exists := size > 0 && edits[i].key >= first && key(l.last(first, edits[i].key)) == edits[i].key
		switch {
		case exists && edits[i].gone:
			count--
		case !exists && !edits[i].gone:
			count++
		}
	}
	parts := max((count+leafMax-1)/leafMax, 1)
	w.part = (count + parts - 1) / parts
	w.size -= size
	at := 0
	for len(edits) > 0 {
		e := &edits[0]
		for ; at < size && key(at) < e.key; at++ {
			w.put(key(at), l.values[at])
		}
		if at < size && key(at) == e.key {
			at++
		}
		if !e.gone {
			w.put(e.key, e.value)
		}
		edits = edits[1:]
	}
	for ; at < size; at++ {
		w.put(key(at), l.values[at])
	}
	w.flush()
}
