package trunkgroup

// with returns the map after the edits, which are sorted by key and have each
// key once.
func (m *numberMap[V]) with(edits []numberEdit[V]) numberMap[V] {
	if len(edits) == 0 {
		return *m
	}
	var next numberMapWriter[V]
	if len(m.branches) == 0 {
		(&numberLeaf[V]{}).edit(edits, &next)
	}
	for i, b := range m.branches {
		mine := edits
		if i+1 < len(m.branches) {
			mine = edits[:editsBelow(edits, m.firsts[i+1])]
		}
		edits = edits[len(mine):]
		if len(mine) == 0 {
			next.branch(b)
			continue
		}
		b.edit(mine, &next)
	}
	next.cut()
	next.size += m.size
	return next.numberMap
}

// editsBelow returns how many edits have keys below n.
func editsBelow[V any](edits []numberEdit[V], n number) int {
	low, high := 0, len(edits)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if edits[middle].key < n {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// edit writes the branch after the edits.
func (b *numberBranch[V]) edit(edits []numberEdit[V], next *numberMapWriter[V]) {
	for i := range b.leaves {
		mine := edits
		if i+1 < len(b.leaves) {
			mine = edits[:editsBelow(edits, b.firsts[i+1])]
		}
		edits = edits[len(mine):]
		if len(mine) == 0 {
			next.leaf(b.leaves[i])
			continue
		}
		b.leaves[i].edit(mine, next)
	}
}

// edit writes the leaf after the edits, in parts of equal size when it is more
// than one now.
func (l *numberLeaf[V]) edit(edits []numberEdit[V], next *numberMapWriter[V]) {
	count := len(l.keys)
	for i := range edits {
		at := lastAtMost(l.keys, edits[i].key)
		switch exists := at >= 0 && l.keys[at] == edits[i].key; {
		case exists && edits[i].gone:
			count--
		case !exists && !edits[i].gone:
			count++
		}
	}
	next.size += count - len(l.keys)
	parts := (count + leafMax - 1) / leafMax
	at := 0
	for ; parts > 0; parts-- {
		size := (count + parts - 1) / parts
		count -= size
		part := numberLeaf[V]{make([]number, 0, size), make([]V, 0, size)}
		for len(part.keys) < size {
			at, edits = l.merge(at, edits, &part)
		}
		next.leaf(part)
	}
}

// merge appends the next entry of the leaf or of the edits, and returns what is
// left of both.
func (l *numberLeaf[V]) merge(at int, edits []numberEdit[V], part *numberLeaf[V]) (int, []numberEdit[V]) {
	if len(edits) == 0 || at < len(l.keys) && l.keys[at] < edits[0].key {
		part.keys, part.values = append(part.keys, l.keys[at]), append(part.values, l.values[at])
		return at + 1, edits
	}
	e := &edits[0]
	if at < len(l.keys) && l.keys[at] == e.key {
		at++
	}
	if !e.gone {
		part.keys, part.values = append(part.keys, e.key), append(part.values, e.value)
	}
	return at, edits[1:]
}
