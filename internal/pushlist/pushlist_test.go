package pushlist

import (
	"slices"
	"sync"
	"testing"
)

func TestOrder(t *testing.T) {
	var l List[int]
	for i := range 5 {
		l.Push(i)
	}
	if got := l.Take([]int{9}); !slices.Equal(got, []int{9, 0, 1, 2, 3, 4}) {
		t.Errorf("took %v", got)
	}
	if got := l.Take(nil); got != nil {
		t.Errorf("took %v of an empty list", got)
	}
}

// Nothing is lost and nothing comes twice, and what one goroutine pushed stays in its order.
func TestMany(t *testing.T) {
	const pushers, each = 8, 2000
	var l List[[2]int]
	var wg sync.WaitGroup
	for p := range pushers {
		wg.Go(func() {
			for i := range each {
				l.Push([2]int{p, i})
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	next := [pushers]int{}
	for ended := false; ; {
		for _, v := range l.Take(nil) {
			if v[1] != next[v[0]] {
				t.Fatalf("%d came from %d, want %d", v[1], v[0], next[v[0]])
			}
			next[v[0]]++
		}
		if ended {
			break
		}
		select {
		case <-done:
			ended = true
		default:
		}
	}
	for p, n := range next {
		if n != each {
			t.Errorf("%d of %d came from %d", n, each, p)
		}
	}
}
