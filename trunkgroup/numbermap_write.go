package trunkgroup

// numberMapWriter puts a map together from entries, leaves and branches in
// order. Small neighbours become one, so that taking out numbers gives their
// memory back.
type numberMapWriter[V any] struct {
	numberMap[V]
	// open is the leaves of the branch that is being written, firstsOpen their
	// first keys.
	open       []*numberLeaf[V]
	firstsOpen []number
	last       *numberLeaf[V] // what put fills; nil when there is none
	first      number         // of last
	part       int            // how many entries put makes a leaf of
}

// put appends an entry behind all others.
func (w *numberMapWriter[V]) put(n number, value V) {
	if w.last != nil && (int(w.last.size) == w.part || n-w.first > leafSpan) {
		w.flush()
	}
	if w.last == nil {
		w.last, w.first = newLeaf[V](), n
	}
	w.last.put(uint32(n-w.first), value)
	w.size++
}

// flush ends the leaf that put fills.
func (w *numberMapWriter[V]) flush() {
	if w.last != nil {
		w.leaf(w.first, w.last)
	}
	w.last = nil
}

func newLeaf[V any]() *numberLeaf[V] {
	l := &numberLeaf[V]{}
	for i := range l.keys {
		l.keys[i] = noKey
	}
	return l
}

func (l *numberLeaf[V]) put(key uint32, value V) {
	l.keys[l.size], l.values[l.size] = key, value
	l.size++
}

// leaf appends a leaf, which nobody changes any more.
func (w *numberMapWriter[V]) leaf(first number, l *numberLeaf[V]) {
	if last := len(w.open) - 1; last >= 0 && w.open[last].joins(w.firstsOpen[last], first, l) {
		w.open[last] = w.open[last].join(w.firstsOpen[last], first, l)
		return
	}
	// Twice a full branch is cut in half: two branches that can both take more.
	if len(w.open) == 2*branchMax {
		w.write(0, branchMax)
		w.open = append(w.open[:0], w.open[branchMax:]...)
		w.firstsOpen = append(w.firstsOpen[:0], w.firstsOpen[branchMax:]...)
	}
	w.open, w.firstsOpen = append(w.open, l), append(w.firstsOpen, first)
}

// joins tells whether two leaves are better one.
func (l *numberLeaf[V]) joins(first, next number, behind *numberLeaf[V]) bool {
	return l.size+behind.size <= leafMax/2 && next-first+number(behind.keys[behind.size-1]) <= leafSpan
}

// join returns one leaf with the entries of both.
func (l *numberLeaf[V]) join(first, next number, behind *numberLeaf[V]) *numberLeaf[V] {
	both := *l
	for i := range behind.size {
		both.put(uint32(next-first)+behind.keys[i], behind.values[i])
	}
	return &both
}

// branch appends a branch that did not change. It is shared when what is open
// before it can stand alone.
func (w *numberMapWriter[V]) branch(b *numberBranch[V]) {
	if len(w.open) > 0 && len(w.open)+len(b.leaves) <= branchMax/2 {
		for i, l := range b.leaves {
			w.leaf(b.firsts[i], l)
		}
		return
	}
	w.cut()
	w.add(b)
}

// cut ends the open branch.
func (w *numberMapWriter[V]) cut() {
	if n := len(w.open); n > branchMax {
		w.write(0, n/2)
		w.write(n/2, n)
	} else if n > 0 {
		w.write(0, n)
	}
	w.open, w.firstsOpen = w.open[:0], w.firstsOpen[:0]
}

// write appends a branch of a copy of some open leaves.
func (w *numberMapWriter[V]) write(from, to int) {
	w.add(&numberBranch[V]{
		append([]number(nil), w.firstsOpen[from:to]...),
		append([]*numberLeaf[V](nil), w.open[from:to]...),
	})
}

func (w *numberMapWriter[V]) add(b *numberBranch[V]) {
	w.firsts = append(w.firsts, b.firsts[0])
	w.branches = append(w.branches, b)
}

// done returns the map.
func (w *numberMapWriter[V]) done() numberMap[V] {
	w.flush()
	w.cut()
	return w.numberMap
}
