package wan

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Shape is what a direction of a link does to packets.
type Shape struct {
	// Delay is the one-way delay; Jitter spreads it evenly by up to this much
	// either way and thereby reorders packets.
	Delay, Jitter time.Duration
	// Loss and Dup are the shares, 0 to 1, of packets lost and sent twice.
	Loss, Dup float64
	// Down loses every packet.
	Down bool
}

// Counters are the packets that a direction took in, gave out and lost.
type Counters struct{ In, Out, Lost uint64 }

// pipe is one direction: packets are put in by the reader of one device and
// come out, in order of their due time, at the writer of the other.
type pipe struct {
	shape         atomic.Pointer[Shape]
	in, out, lost atomic.Uint64

	mu   sync.Mutex
	due  packets
	seq  uint64
	rng  *rand.Rand
	wake chan struct{}
}

func newPipe(s Shape, seed uint64) *pipe {
	p := &pipe{wake: make(chan struct{}, 1), rng: rand.New(rand.NewPCG(seed, seed))}
	p.shape.Store(&s)
	return p
}

// put takes in a packet at the time now; the packet is copied.
func (p *pipe) put(now time.Time, b []byte) {
	p.in.Add(1)
	s := *p.shape.Load()
	p.mu.Lock()
	if s.Down || p.rng.Float64() < s.Loss {
		p.mu.Unlock()
		p.lost.Add(1)
		return
	}
	copies := 1
	if p.rng.Float64() < s.Dup {
		copies = 2
	}
	for range copies {
		delay := s.Delay + time.Duration((p.rng.Float64()*2-1)*float64(s.Jitter))
		p.seq++
		heap.Push(&p.due, packet{at: now.Add(delay), seq: p.seq, data: append([]byte(nil), b...)})
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take returns the next packet that is due at now, or nil and the time of the
// next one; zero means that none waits.
func (p *pipe) take(now time.Time) (data []byte, next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.due) == 0 {
		return nil, time.Time{}
	}
	if first := p.due[0]; first.at.After(now) {
		return nil, first.at
	}
	p.out.Add(1)
	return heap.Pop(&p.due).(packet).data, time.Time{}
}

// drain gives packets to write when they are due, until stop is closed.
func (p *pipe) drain(stop <-chan struct{}, write func([]byte)) {
	for {
		data, next := p.take(time.Now())
		if data != nil {
			write(data)
			continue
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case <-p.wake:
		case <-timer:
		case <-stop:
			return
		}
	}
}

func (p *pipe) counters() Counters {
	return Counters{In: p.in.Load(), Out: p.out.Load(), Lost: p.lost.Load()}
}

type packet struct {
	at   time.Time
	seq  uint64 // order of arrival: packets due at once leave as they came
	data []byte
}

// packets is a heap by due time.
type packets []packet

func (q packets) Len() int { return len(q) }

func (q packets) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}

func (q packets) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push appends a packet; it is called by container/heap.
func (q *packets) Push(x any) { *q = append(*q, x.(packet)) }

// Pop takes the last packet; it is called by container/heap.
func (q *packets) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
