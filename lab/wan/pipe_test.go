package wan

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestPipeDelaysEachPacketAndKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe(Shape{Delay: 15 * time.Millisecond}, 1)
		stop := make(chan struct{})
		var got []string
		begin := time.Now()
		go p.drain(stop, func(b []byte) { got = append(got, fmt.Sprintf("%s@%v", b, time.Since(begin))) })
		p.put(time.Now(), []byte("a"))
		p.put(time.Now(), []byte("b"))
		time.Sleep(10 * time.Millisecond)
		p.put(time.Now(), []byte("c"))
		time.Sleep(time.Second)
		close(stop)
		synctest.Wait()
		if want := []string{"a@15ms", "b@15ms", "c@25ms"}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestPipeCutLosesPacketsUntilHealed(t *testing.T) {
	now := time.Now()
	p := newPipe(Shape{Down: true}, 1)
	p.put(now, []byte("lost"))
	p.shape.Store(&Shape{})
	p.put(now, []byte("kept"))
	if b, _ := p.take(now); string(b) != "kept" {
		t.Fatalf("got %q, want the packet sent after the heal", b)
	}
	if got, want := p.counters(), (Counters{In: 2, Out: 1, Lost: 1}); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func TestPipeLossAndDuplicationShares(t *testing.T) {
	const n = 10000
	now := time.Now()
	for _, tc := range []struct {
		name     string
		shape    Shape
		min, max int
	}{
		{"ten percent lost", Shape{Loss: 0.1}, 8800, 9200},
		{"ten percent twice", Shape{Dup: 0.1}, 10800, 11200},
		{"untouched", Shape{}, n, n},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPipe(tc.shape, 7)
			for range n {
				p.put(now, []byte{1})
			}
			out := 0
			for b, _ := p.take(now); b != nil; b, _ = p.take(now) {
				out++
			}
			if out < tc.min || out > tc.max {
				t.Fatalf("%d packets came out, want %d to %d", out, tc.min, tc.max)
			}
		})
	}
}

func TestPipeJitterStaysInItsBounds(t *testing.T) {
	now := time.Now()
	p := newPipe(Shape{Delay: 10 * time.Millisecond, Jitter: 4 * time.Millisecond}, 3)
	for range 1000 {
		p.put(now, []byte{1})
	}
	if b, next := p.take(now.Add(6*time.Millisecond - 1)); b != nil {
		t.Fatalf("a packet came before delay minus jitter (next %v)", next.Sub(now))
	}
	for range 1000 {
		if b, _ := p.take(now.Add(14 * time.Millisecond)); b == nil {
			t.Fatal("a packet was later than delay plus jitter")
		}
	}
}
