//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// phase is one stretch of load on a server.
type phase struct {
	answer
	cpuPerCall float64 // microseconds of the server
	busyShare  float64 // of the server's core
	otherShare float64 // of the machine: what neither server nor load program used
}

func (p *phase) values() map[string]float64 {
	return map[string]float64{
		"cpu_us": p.cpuPerCall, "busy": p.busyShare, "pdd_p50_us": p.PDD.P50, "pdd_p99_us": p.PDD.P99,
		"started": float64(p.Started), "failed": float64(p.Failed), "repeats": float64(p.Repeats),
		"generator_us": perCall(p.CPU, p.Started), "other": p.otherShare, "faults": float64(p.Faults),
	}
}

// phase lets the generator work and reads what the server spent meanwhile.
func (s *session) phase(o order) (*phase, error) {
	cpu, busy, start := s.cpu(), machineBusy(), time.Now()
	a, err := s.tell(o)
	if err != nil {
		return nil, fmt.Errorf("%s at %.0f per second: %w", s.name, o.Rate, err)
	}
	spent, elapsed := s.cpu()-cpu, time.Since(start)
	other := machineBusy() - busy - spent - a.CPU
	return &phase{
		answer: a, cpuPerCall: perCall(spent, a.Completed), busyShare: spent.Seconds() / elapsed.Seconds(),
		otherShare: max(0, other.Seconds()/elapsed.Seconds()),
	}, nil
}

func perCall(d time.Duration, calls int) float64 {
	return float64(d.Microseconds()) / float64(max(calls, 1))
}

// good tells whether a server stands a rate: less than 0.1 % of the calls failed,
// less than 1 % of the requests were sent again, and the load program kept pace.
func (p *phase) good(rate float64) bool {
	return float64(p.Failed) < 0.001*float64(p.Started+p.Skipped) && float64(p.Repeats) < 0.01*float64(p.Started) && p.Achieved > 0.98*rate
}

// maximum searches the highest rate that the server stands.
func (s *session) maximum(ctx context.Context, n int) (float64, error) {
	b := s.bench
	low, high := 0.0, 0.0 // 0 = not known
	guess := b.centre[s.name]
	if guess == 0 {
		guess = 1500
	}
	var best *phase
	for range b.size.steps {
		if low > 0 && high > 0 && high/low <= b.size.ratio {
			break
		}
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("interrupted: %w", err)
		}
		switch {
		case low > 0 && high > 0:
			guess = (low + high) / 2
		case low > 0:
			guess = low * 1.25
		case high > 0:
			guess = high / 1.25
		}
		p, err := s.phase(order{Do: "load", Rate: guess, Duration: b.size.step})
		if err != nil {
			return 0, err
		}
		if p.good(guess) {
			low, best = guess, p
			continue
		}
		b.say("%-15s run %d  %6.0f calls/s is too much: %d of %d failed, %d repeats, %.0f/s achieved, server %.0f %% busy %s",
			s.name, n, guess, p.Failed, p.Started+p.Skipped, p.Repeats, p.Achieved, 100*p.busyShare, p.Why)
		high = guess
		rest(b.size.quiet) // what the overload left behind
	}
	if best == nil {
		b.say("%-15s run %d  no rate was found that the server stands", s.name, n)
		return 0, nil
	}
	b.centre[s.name] = low
	v := best.values()
	v["max_cps"] = low
	b.record(n, s.name, "max", v)
	return low, nil
}

// overload measures what a server still does when it is offered too much.
func (s *session) overload(n int, top float64) error {
	for _, factor := range s.bench.size.factors {
		rest(s.bench.size.quiet)
		p, err := s.phase(order{Do: "load", Rate: factor * top, Duration: s.bench.size.step})
		if err != nil {
			return err
		}
		v := p.values()
		v["offered_cps"] = p.Achieved
		v["goodput_cps"] = float64(p.InTime) / s.bench.size.step.Seconds()
		v["goodput_share"] = v["goodput_cps"] / top
		for code, count := range p.Finals {
			v[fmt.Sprintf("finals_%d", code)] = float64(count)
		}
		s.bench.record(n, s.name, fmt.Sprintf("overload@%.1f", factor), v)
		if p.Fault != "" {
			s.bench.say("%-15s run %d  the first of %d faults: %s", s.name, n, p.Faults, p.Fault)
		}
	}
	return nil
}

// holding measures the memory of calls that are up.
func (b *bench) holding(ctx context.Context, name string, n int) error {
	s, err := b.open(ctx, name, true)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.phase(order{Do: "load", Rate: 200, Duration: b.size.warm}); err != nil {
		return err
	}
	rest(b.size.quiet)
	before := s.memory()
	a, err := s.tell(order{Do: "hold", Rate: b.size.ramp, Calls: b.size.hold})
	if err != nil {
		return fmt.Errorf("%s: hold: %w", name, err)
	}
	rest(b.size.quiet)
	after := s.memory()
	if _, err := s.tell(order{Do: "release"}); err != nil {
		return fmt.Errorf("%s: release: %w", name, err)
	}
	b.record(n, name, "hold", map[string]float64{
		"calls": float64(a.Completed), "bytes_per_call": float64(after-before) / float64(max(a.Completed, 1)),
		"before_mib": float64(before) / (1 << 20), "after_mib": float64(after) / (1 << 20),
	})
	return nil
}

func rest(d time.Duration) { time.Sleep(d) }
