package sessions

// Changed calls fn with the far ends whose calls of this node have changed since
// the last time, and how many there are now. One goroutine calls it.
func (t *Table) Changed(fn func(farEnd string, own int)) {
	for s := t.changed.Swap(nil); s != nil; {
		next := s.next
		// From here on a change queues the seat again, so that none is missed.
		s.queued.Store(false)
		fn(s.farEnd, int(max(s.own.Load(), 0)))
		s = next
	}
}

// Heard takes how many calls another process has at a far end; 0 is none, also
// when nobody knows because the process is gone.
func (t *Table) Heard(process, farEnd string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.others[farEnd][process]
	switch {
	case n > 0 && t.others[farEnd] == nil:
		t.others[farEnd] = map[string]int{process: n}
	case n > 0:
		t.others[farEnd][process] = n
	default:
		delete(t.others[farEnd], process)
		if len(t.others[farEnd]) == 0 {
			delete(t.others, farEnd)
		}
	}
	member, id, bound := split(farEnd)
	p := t.places[member]
	if p == nil || n == was {
		return
	}
	s := p.member
	if bound {
		if s = (*p.bindings.Load())[id]; s == nil {
			if n > 0 {
				t.add(p, id, t.seat(farEnd)) // with n in it
			}
			return
		}
	}
	s.others.Add(int64(n - was))
}
