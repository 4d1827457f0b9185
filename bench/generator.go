//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"syscall"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// generatorWord as the first argument makes this command the generator: a process
// of its own, so that it can be pinned to its core. It reads orders and writes
// answers, one JSON value per line.
const generatorWord = "generator"

// order is one piece of work for the generator.
type order struct {
	Do       string        `json:"do"` // "load", "hold" or "release"
	Direct   bool          `json:"direct"`
	Rate     float64       `json:"rate"`
	Duration time.Duration `json:"duration_ns"`
	Calls    int           `json:"calls"`
	Grace    time.Duration `json:"grace_ns"` // wait for the last calls to end
}

// answer is what comes of it.
type answer struct {
	Error     string        `json:"error,omitempty"`
	Started   int           `json:"started"`
	Completed int           `json:"completed"`
	InTime    int           `json:"in_time"` // of these, within the order's duration
	Failed    int           `json:"failed"`  // failed, unfinished and skipped calls
	Skipped   int           `json:"skipped"`
	Repeats   int           `json:"repeats"`
	Achieved  float64       `json:"achieved_cps"`
	Elapsed   time.Duration `json:"elapsed_ns"`
	PDD       sim.Summary   `json:"pdd"`
	Answer    sim.Summary   `json:"answer"`
	CPU       time.Duration `json:"generator_cpu_ns"`
	Faults    int           `json:"faults"`
	Finals    map[int]int   `json:"finals"`
	Why       string        `json:"why,omitempty"`   // of the first failed call
	Fault     string        `json:"fault,omitempty"` // the first breach of protocol
}

// generator holds the far ends, which live as long as the server under test.
// All sockets of both sides are served by one loop.
type generator struct {
	loop *sim.Loop
	far  [2]*sim.FarEnd
	held *sim.Load
	done chan *sim.Report
	stop context.CancelFunc
}

func generate(in io.Reader, out io.Writer) error {
	loop, err := sim.NewLoop()
	if err != nil {
		return fmt.Errorf("generator: %w", err)
	}
	g := &generator{loop: loop}
	defer g.close()
	for i := range g.far {
		far, err := sim.StartFarEnd(sim.FarEndConfig{
			CalleeConfig: sim.CalleeConfig{Name: fmt.Sprint("far-", i+1), Role: sim.PBX, Behaviour: sim.AnswersAtOnce(), KeepLegs: -1},
			Listen:       []sim.Listen{{Addr: farAddr(i)}}, Loop: loop,
		})
		if err != nil {
			return fmt.Errorf("generator: %w", err)
		}
		g.far[i] = far
	}
	enc := json.NewEncoder(out)
	if err := enc.Encode(answer{}); err != nil { // the far ends answer
		return fmt.Errorf("generator: %w", err)
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("generator: order: %w", err)
		}
		a, err := g.obey(o)
		if err != nil {
			a.Error = err.Error()
		}
		if err := enc.Encode(a); err != nil {
			return fmt.Errorf("generator: %w", err)
		}
	}
	return lines.Err()
}

func (g *generator) obey(o order) (answer, error) {
	switch o.Do {
	case "load":
		return g.load(o)
	case "hold":
		return g.hold(o)
	case "release":
		return g.release()
	}
	return answer{}, fmt.Errorf("order %q is not known", o.Do)
}

func (g *generator) config(o order) sim.LoadConfig {
	cfg := sim.LoadConfig{
		CallerConfig: sim.CallerConfig{
			Nodes:       []sim.Node{{Name: "sut", Addr: sutAddr}},
			NodeTimeout: max(o.Grace/2, time.Second), SetupTimeout: max(o.Grace*8/10, time.Second),
		},
		To: []string{calledNumber}, Rate: o.Rate, Duration: o.Duration, Calls: o.Calls, Grace: o.Grace,
		Local: []netip.AddrPort{callerAddr}, KeepFailures: 1, Loop: g.loop,
	}
	if o.Direct {
		cfg.Nodes = []sim.Node{{Name: "far-1", Addr: farAddr(0)}, {Name: "far-2", Addr: farAddr(1)}}
		cfg.Spread = true
	}
	return cfg
}

func (g *generator) load(o order) (answer, error) {
	l, err := sim.NewLoad(g.config(o))
	if err != nil {
		return answer{}, err
	}
	before := processorTime()
	inTime := make(chan int, 1)
	window := time.AfterFunc(o.Duration, func() { inTime <- l.Counts().Results[sim.Completed] })
	r, err := l.Run(context.Background())
	a := answerOf(r, processorTime()-before)
	if !window.Stop() {
		a.InTime = <-inTime
	}
	return a, errors.Join(err, l.Close())
}

// hold sets calls up, answers when all are up, and keeps them.
func (g *generator) hold(o order) (answer, error) {
	cfg := g.config(o)
	cfg.Hold, cfg.Grace = time.Hour, time.Hour
	l, err := sim.NewLoad(cfg)
	if err != nil {
		return answer{}, err
	}
	ctx, stop := context.WithCancel(context.Background())
	g.held, g.stop, g.done = l, stop, make(chan *sim.Report, 1)
	go func() {
		r, _ := l.Run(ctx) // ends with the context: that is no failure
		g.done <- r
	}()
	deadline := time.After(time.Duration(float64(o.Calls)/o.Rate*float64(time.Second)) + 15*time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		n := l.Counts()
		if n.Up >= o.Calls {
			return answer{Started: n.Started, Completed: n.Up}, nil
		}
		select {
		case <-tick.C:
		case <-deadline:
			return answer{Started: n.Started, Completed: n.Up}, fmt.Errorf("%d of %d calls are up", n.Up, o.Calls)
		}
	}
}

// release hangs the held calls up.
func (g *generator) release() (answer, error) {
	if g.held == nil {
		return answer{}, errors.New("no calls are held")
	}
	g.stop()
	r := <-g.done
	err := g.held.Close()
	g.held = nil
	return answerOf(r, 0), err
}

func (g *generator) close() {
	if g.held != nil {
		g.stop()
		<-g.done
		_ = g.held.Close()
	}
	for _, far := range g.far {
		if far != nil {
			_ = far.Close()
		}
	}
	_ = g.loop.Close()
}

func answerOf(r *sim.Report, cpu time.Duration) answer {
	a := answer{
		Started: r.Counts.Started, Completed: r.Counts.Results[sim.Completed], Failed: r.Counts.Failed + r.Left + r.Skipped,
		Skipped: r.Skipped, Repeats: r.Counts.Repeats, Achieved: r.Achieved, Elapsed: r.Elapsed, PDD: r.PDD, Answer: r.Setup,
		CPU: cpu, Faults: r.FaultsN, Finals: r.Counts.Finals,
	}
	if len(r.Failures) > 0 {
		a.Why = string(r.Failures[0].Result) + ": " + r.Failures[0].Why
	}
	if len(r.Faults) > 0 {
		a.Fault = string(r.Faults[0].Kind) + ": " + r.Faults[0].Detail
	}
	return a
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
