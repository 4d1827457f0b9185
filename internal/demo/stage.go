package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// stage is everything that runs during the demo.
type stage struct {
	dir   string
	files map[string]string
	wan   *relay
	nodes map[string]*child
	fars  map[string]*sim.FarEnd
	loads []*stream

	mu     sync.Mutex
	killed map[string]time.Time // nodes, by when they were killed
	lost   []sim.CallRecord     // calls that failed and had no excuse
	excuse []sim.CallRecord     // calls that were up on a node when it was killed
	cut    []sim.Leg            // calls that rang at a far end when it was killed
	rang   []sim.CallRecord     // what became of them at the caller
}

// stream is one caller program.
type stream struct {
	name string
	load *sim.Load
	done chan struct{}
}

// open builds the stage and waits until every node takes calls.
func open(ctx context.Context, dir string, key []byte) (*stage, error) {
	s := &stage{
		dir: dir, wan: newRelay(), nodes: map[string]*child{}, fars: map[string]*sim.FarEnd{}, killed: map[string]time.Time{},
	}
	if err := s.build(ctx, key); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stage) build(ctx context.Context, key []byte) error {
	via := map[string]string{}
	for _, p := range places {
		gossip, err := s.wan.both(at(p.ip, gossipPort))
		if err != nil {
			return err
		}
		stream, err := s.wan.tcp(at(p.ip, streamPort))
		if err != nil {
			return err
		}
		via[at(p.ip, gossipPort)], via[at(p.ip, streamPort)] = gossip, stream
	}
	files, err := writeFiles(s.dir, key, via)
	if err != nil {
		return err
	}
	s.files = files
	for _, f := range fars {
		if err := s.startFar(f); err != nil {
			return err
		}
	}
	for _, p := range places {
		if err := s.startNode(p); err != nil {
			return err
		}
	}
	for _, p := range places {
		if err := s.nodes[p.name].ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) startFar(f far) error {
	start := sim.StartPBX
	if f.carrier {
		start = sim.StartCarrier
	}
	end, err := start(f.id, addr(f.ip, sitePort), sim.Answers(20*time.Millisecond, 60*time.Millisecond))
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	s.fars[f.id] = end
	return nil
}

func (s *stage) startNode(p place) error {
	c, err := startNode(s.dir, s.files[p.name], p)
	if err != nil {
		return err
	}
	s.nodes[p.name] = c
	return nil
}

// call starts the caller programs: from the PSTN and from the customer, into
// each site, at rate calls per second each.
func (s *stage) call(ctx context.Context, rate float64) error {
	for _, site := range []string{"dallas", "ashburn"} {
		for _, d := range []struct{ name, ip, to string }{
			{"pstn -> " + site, pstnIP, acmeNumber + "..+12145550199"},
			{"acme -> " + site, customerIP, "+13105550100..+13105550199"},
		} {
			cfg := sim.LoadConfig{
				To: []string{d.to}, Rate: rate, Hold: 800 * time.Millisecond, HoldMax: 1600 * time.Millisecond, Grace: 8 * time.Second,
			}
			cfg.Local = append(cfg.Local, addr(d.ip, 0))
			cfg.Nodes, cfg.Spread, cfg.Avoid, cfg.NodeTimeout = nodesOf(site), true, 2*time.Second, 2*time.Second
			cfg.Done = s.ended
			load, err := sim.NewLoad(cfg)
			if err != nil {
				return fmt.Errorf("demo: %w", err)
			}
			st := &stream{name: d.name, load: load, done: make(chan struct{})}
			s.loads = append(s.loads, st)
			go func() {
				defer close(st.done)
				_, _ = load.Run(ctx) // ends with ctx
			}()
		}
	}
	return nil
}

func nodesOf(site string) []sim.Node {
	var list []sim.Node
	for _, p := range places {
		if p.site == site {
			list = append(list, sim.Node{Name: p.name, Addr: addr(p.ip, sitePort)})
		}
	}
	return list
}

// ended judges a finished call. Two are excused: one that was up on a node when it
// was killed has no owner any more, and one that rang at a far end when that was
// killed is not sent elsewhere, since its callee may be picking up. Nothing else is.
func (s *stage) ended(r *sim.CallRecord) {
	if !r.Failed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, dead := s.killed[r.Node]
	switch {
	case dead && r.Started.Before(at.Add(time.Second)):
		s.excuse = append(s.excuse, *r)
	case r.PDD > 0 && slices.ContainsFunc(s.cut, func(l sim.Leg) bool { return isLeg(r, &l) }):
		s.rang = append(s.rang, *r)
	default:
		s.lost = append(s.lost, *r)
	}
}

// isLeg says whether a far end's leg is the callee's side of a call.
func isLeg(r *sim.CallRecord, l *sim.Leg) bool {
	const most = time.Second // from the caller's INVITE to the one that reached the far end
	after := l.Invited.Sub(r.Started)
	return strings.Contains(l.URI, r.To+"@") && after >= 0 && after < most
}

// killFar kills a far end and remembers what rang there.
func (s *stage) killFar(id string) error {
	f := s.fars[id]
	if err := f.Kill(); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range f.Legs() {
		if l.EndedBy == "lost" && l.Answered.IsZero() {
			s.cut = append(s.cut, l)
		}
	}
	return nil
}

func (s *stage) markKilled(node string) {
	s.mu.Lock()
	s.killed[node] = time.Now()
	s.mu.Unlock()
}

// tally is what the callers have seen so far.
type tally struct {
	answered, failed int
	members          map[string]int
	handoffs         float64
}

func (s *stage) tally(ctx context.Context) tally {
	t := tally{members: map[string]int{}}
	for _, l := range s.loads {
		c := l.load.Counts()
		t.answered += c.Answered
		t.failed += c.Failed
		for m, n := range c.Members {
			t.members[m] += n
		}
	}
	for _, n := range s.nodes {
		if !n.witness && n.running() {
			t.handoffs += n.metric(ctx, "tandem_handoffs_total", `result="answered"`)
		}
	}
	return t
}

// site adds up the answers of a site's far ends.
func (t *tally) site(name string) (n int) {
	for _, f := range fars {
		if f.site == name {
			n += t.members[f.id]
		}
	}
	return n
}

// close ends everything: callers first, so that no call is cut off.
func (s *stage) close() {
	for _, l := range s.loads {
		<-l.done
		_ = l.load.Close()
	}
	for _, c := range s.nodes {
		if c.running() {
			c.stop()
		}
	}
	for _, f := range s.fars {
		_ = f.Close()
	}
	s.wan.close()
}

// keepLogs copies what a failed run leaves for the reader.
func (s *stage) keepLogs() string {
	to, err := os.MkdirTemp("", "tandem-demo-failed-")
	if err != nil {
		return ""
	}
	for _, pattern := range []string{"*.log", "*/cdr.jsonl", "*.yaml"} {
		paths, _ := filepath.Glob(filepath.Join(s.dir, pattern)) // the patterns are constant
		for _, p := range paths {
			if b, err := os.ReadFile(p); err == nil {
				name := filepath.Base(p)
				if dir := filepath.Dir(p); dir != s.dir {
					name = filepath.Base(dir) + "-" + name
				}
				_ = os.WriteFile(filepath.Join(to, name), b, 0o600) // best effort
			}
		}
	}
	return to
}
