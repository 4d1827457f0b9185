package cluster

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/cluster/soft"
)

// kindSoft is the kind of the frames of soft state; 40..43 are reserved for it.
const kindSoft byte = 40

// maxSoftInbox bounds the received frames that wait, in octets. What is dropped is
// asked for again.
const maxSoftInbox = 16 << 20

// softReconcile is how often the store is told who lives beside the news of it.
const softReconcile = time.Second

// SoftConfig is what a Soft is made from; zero fields mean the defaults of package soft.
type SoftConfig struct {
	Rules                map[soft.Kind]soft.Rule
	MaxEntries, MaxBytes int
	Logger               *slog.Logger // nil means silence
}

// Soft is the node's soft state: a soft.Store, the streams to the other nodes, and
// one goroutine that moves frames between them. Nothing of it is on the path of a
// call: readers of streams only queue what comes.
type Soft struct {
	node *Node
	log  *slog.Logger
	wake chan struct{} // one token: there is something to do

	mu    sync.Mutex
	store *soft.Store

	inbox    sync.Mutex
	frames   []softFrame
	octets   int
	dropped  atomic.Uint64
	refused  atomic.Uint64
	onChange []func([]soft.Change)

	told   map[string]uint64 // boots of the nodes that the store holds to live; the loop's
	looked time.Time         // when the loop compared that with the interconnect
	news   atomic.Bool       // a peer came or went since then
	cancel context.CancelFunc
	done   sync.WaitGroup
}

type softFrame struct {
	from    string
	payload []byte
}

// NewSoft makes the soft state of a node that is not started yet.
func NewSoft(n *Node, cfg SoftConfig) *Soft {
	s := &Soft{
		node: n, log: cfg.Logger, wake: make(chan struct{}, 1), told: make(map[string]uint64),
		store: soft.New(soft.Config{
			Node: n.cfg.Node, Boot: n.boot, Rules: cfg.Rules, MaxEntries: cfg.MaxEntries, MaxBytes: cfg.MaxBytes,
		}, time.Now()),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	n.OnPeer(func(interconnect.Peer) {
		s.news.Store(true)
		s.poke()
	})
	n.OnFrame(kindSoft, kindSoft, func(from string, _ byte, payload []byte) { s.accept(from, payload) })
	return s
}

// OnChange registers a function that is told, on one goroutine, what changed other
// than by this node's own doing. It may call Do. Call it before Start.
func (s *Soft) OnChange(f func([]soft.Change)) { s.onChange = append(s.onChange, f) }

// Start begins to exchange with the other nodes. It may come before or after that of
// the node.
func (s *Soft) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.done.Go(func() { s.run(ctx) })
}

// Stop sends what is left to say and ends the exchange. It comes before that of the
// node, and may be called repeatedly and without Start.
func (s *Soft) Stop() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	s.done.Wait()
	s.emit()
}

// Do calls fn with the store, which nobody else touches meanwhile. fn must not keep
// the store, block, or call Do. What it writes leaves at once.
func (s *Soft) Do(fn func(now time.Time, store *soft.Store)) {
	s.mu.Lock()
	fn(time.Now(), s.store)
	s.mu.Unlock()
	s.poke()
}

// Dropped is the number of frames of other nodes that found the inbox full or that
// were of no known form. Refused frames are of a newer version, or of a faulty one.
func (s *Soft) Dropped() (full, refused uint64) { return s.dropped.Load(), s.refused.Load() }

func (s *Soft) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// accept queues a frame; the reader of the peer's stream is not held up.
func (s *Soft) accept(from string, payload []byte) {
	s.inbox.Lock()
	full := s.octets+len(payload) > maxSoftInbox
	if !full {
		s.frames = append(s.frames, softFrame{from, payload})
		s.octets += len(payload)
	}
	s.inbox.Unlock()
	if full {
		s.dropped.Add(1)
		return
	}
	s.poke()
}

func (s *Soft) take() []softFrame {
	s.inbox.Lock()
	defer s.inbox.Unlock()
	frames := s.frames
	s.frames, s.octets = nil, 0
	return frames
}

func (s *Soft) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		for _, f := range s.take() {
			s.receive(f)
		}
		timer.Reset(s.turn())
	}
}

// receive gives the store one frame. The lock is held for no longer than that, and
// answers leave before the next frame is looked at.
func (s *Soft) receive(f softFrame) {
	s.mu.Lock()
	err := s.store.Receive(time.Now(), f.from, f.payload)
	s.mu.Unlock()
	if err != nil {
		s.refused.Add(1)
		s.log.Debug("a frame of soft state is of no use", "peer", f.from, "error", err)
	}
	s.emit()
}

// turn does what is due and returns how long nothing will be.
func (s *Soft) turn() time.Duration {
	now := time.Now()
	s.mu.Lock()
	if s.news.Swap(false) || now.Sub(s.looked) >= softReconcile {
		s.looked = now
		s.reconcile(now)
	}
	if d := s.store.Deadline(); !d.IsZero() && !now.Before(d) {
		s.store.Advance(now)
	}
	wait := s.store.Deadline().Sub(now)
	s.mu.Unlock()
	s.emit()
	return min(max(wait, time.Millisecond), softReconcile)
}

// emit sends what the store has to say and tells of its changes. A frame that a full
// queue refuses is missed by its receiver, which asks for it.
func (s *Soft) emit() {
	s.mu.Lock()
	out, changes := s.store.Output(), s.store.Changes()
	s.mu.Unlock()
	for _, m := range out {
		s.node.Send(m.To, kindSoft, m.Frame)
	}
	if len(changes) == 0 {
		return
	}
	for _, f := range s.onChange {
		f(changes)
	}
}

// reconcile tells the store who lives. A witness holds no soft state; the lock is held.
func (s *Soft) reconcile(now time.Time) {
	witness := make(map[string]bool)
	for _, m := range s.node.Members() {
		witness[m.Name] = m.Meta.Witness
	}
	seen := make(map[string]bool)
	for _, p := range s.node.Peers() {
		seen[p.Name] = true
		boot, was := s.told[p.Name]
		switch up := p.Up && !witness[p.Name]; {
		case up && (!was || boot != p.Boot):
			s.told[p.Name] = p.Boot
			s.store.NodeUp(now, p.Name, p.Boot)
		case !up && was:
			delete(s.told, p.Name)
			s.store.NodeLost(now, p.Name, p.Heard)
		}
	}
	for name := range s.told {
		if !seen[name] {
			delete(s.told, name)
			s.store.NodeLost(now, name, time.Time{})
		}
	}
}
