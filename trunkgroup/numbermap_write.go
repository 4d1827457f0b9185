package trunkgroup

// numberMapWriter puts a map together from leaves and branches in order. Small
// neighbours become one, so that taking out numbers gives their memory back.
type numberMapWriter[V any] struct {
	numberMap[V]
	open []numberLeaf[V] // leaves of the branch that is being written
	last numberLeaf[V]   // what append fills
}

// append appends an entry behind all others.
func (w *numberMapWriter[V]) append(n number, value V) {
	if len(w.last.keys) == leafMax {
		w.flush()
	}
	if w.last.keys == nil {
		w.last = numberLeaf[V]{make([]number, 0, leafMax), make([]V, 0, leafMax)}
	}
	w.last.keys, w.last.values = append(w.last.keys, n), append(w.last.values, value)
	w.size++
}

// flush ends the leaf that append fills.
func (w *numberMapWriter[V]) flush() {
	if len(w.last.keys) > 0 {
		w.leaf(w.last)
	}
	w.last = numberLeaf[V]{}
}

// done returns the map of all that was appended.
func (w *numberMapWriter[V]) done() numberMap[V] {
	w.flush()
	w.cut()
	return w.numberMap
}

// leaf appends a leaf, which nobody changes any more.
func (w *numberMapWriter[V]) leaf(l numberLeaf[V]) {
	if last := len(w.open) - 1; last >= 0 && len(w.open[last].keys)+len(l.keys) <= leafMax/2 {
		w.open[last] = w.open[last].join(l)
		return
	}
	w.open = append(w.open, l)
	// Twice a full branch is cut in half: two branches that can both take more.
	if len(w.open) == 2*branchMax {
		w.write(w.open[:branchMax])
		w.open = append(w.open[:0], w.open[branchMax:]...)
	}
}

// join returns one leaf with the entries of both.
func (l numberLeaf[V]) join(behind numberLeaf[V]) numberLeaf[V] {
	size := len(l.keys) + len(behind.keys)
	both := numberLeaf[V]{make([]number, 0, size), make([]V, 0, size)}
	both.keys = append(append(both.keys, l.keys...), behind.keys...)
	both.values = append(append(both.values, l.values...), behind.values...)
	return both
}

// branch appends a branch that did not change. It is shared when what is open
// before it can stand alone.
func (w *numberMapWriter[V]) branch(b *numberBranch[V]) {
	if len(w.open) > 0 && len(w.open)+len(b.leaves) <= branchMax/2 {
		for _, l := range b.leaves {
			w.leaf(l)
		}
		return
	}
	w.cut()
	w.add(b)
}

// cut ends the open branch.
func (w *numberMapWriter[V]) cut() {
	if n := len(w.open); n > branchMax {
		w.write(w.open[:n/2])
		w.write(w.open[n/2:])
	} else if n > 0 {
		w.write(w.open)
	}
	w.open = w.open[:0]
}

// write appends a branch of a copy of the leaves.
func (w *numberMapWriter[V]) write(leaves []numberLeaf[V]) {
	b := &numberBranch[V]{make([]number, len(leaves)), append([]numberLeaf[V](nil), leaves...)}
	for i := range leaves {
		b.firsts[i] = leaves[i].keys[0]
	}
	w.add(b)
}

func (w *numberMapWriter[V]) add(b *numberBranch[V]) {
	w.firsts = append(w.firsts, b.firsts[0])
	w.branches = append(w.branches, b)
}
