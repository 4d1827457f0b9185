package simulation

import "time"

// event is one thing that happens at an instant of true time.
type event struct {
	at  time.Duration
	seq uint64 // tells events of one instant apart: first planned, first played
	do  func()
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// queue is a heap of events, four children to a node: the loop spends its time
// elsewhere.
type queue []event

func (q *queue) push(e event) {
	*q = append(*q, e)
	h := *q
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

func (q *queue) pop() event {
	h := *q
	top, last := h[0], h[len(h)-1]
	h[len(h)-1] = event{}
	h = h[:len(h)-1]
	*q = h
	if len(h) > 0 {
		h.sink(last)
	}
	return top
}

// sink puts e where it belongs, from the top.
func (q queue) sink(e event) {
	i := 0
	for {
		least, first := -1, 4*i+1
		for c := first; c < first+4 && c < len(q); c++ {
			if least < 0 || q[c].before(&q[least]) {
				least = c
			}
		}
		if least < 0 || !q[least].before(&e) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = e
}
