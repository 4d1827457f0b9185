//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// bench is one invocation of the command.
type bench struct {
	options
	w       io.Writer
	dir     string // scratch, removed at the end
	self    string // path of this program
	results *results
	centre  map[string]float64 // maximum of the run before, by server
}

func newBench(o options, w io.Writer) (*bench, error) {
	if runtime.NumCPU() < 2 {
		return nil, errors.New("two processor cores are needed: one for the server, one for the load program")
	}
	if err := need("taskset"); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("own path: %w", err)
	}
	dir, err := os.MkdirTemp("", "tandem-bench-")
	if err != nil {
		return nil, fmt.Errorf("scratch: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	results, err := openResults(o.out)
	if err != nil {
		return nil, err
	}
	return &bench{options: o, w: w, dir: dir, self: self, results: results, centre: map[string]float64{}}, nil
}

func (b *bench) close() {
	_ = b.results.close()
	_ = os.RemoveAll(b.dir)
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.w, format+"\n", args...) }

func (b *bench) wants(test string) bool { return slices.Contains(b.tests, test) }

// measureAll runs everything, the servers in turn within each run.
func (b *bench) measureAll(ctx context.Context) error {
	suts := slices.Clone(b.suts)
	for n := 1; n <= b.runs; n++ {
		for _, name := range slices.Clone(suts) {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("interrupted: %w", err)
			}
			err := b.measure(ctx, name, n)
			if errors.Is(err, errMissing) {
				b.say("%s is left out: %v", name, err)
				suts = slices.DeleteFunc(suts, func(s string) bool { return s == name })
				continue
			}
			if err != nil {
				return fmt.Errorf("%s, run %d: %w", name, n, err)
			}
		}
	}
	return nil
}

// measure makes one run of all measurements of one server.
func (b *bench) measure(ctx context.Context, name string, n int) error {
	if b.wants("cpu") || b.wants("max") || b.wants("overload") {
		if err := b.underLoad(ctx, name, n); err != nil {
			return err
		}
	}
	if b.wants("hold") && name != "direct" {
		return b.holding(ctx, name, n)
	}
	return nil
}

func (b *bench) underLoad(ctx context.Context, name string, n int) error {
	s, err := b.open(ctx, name, true)
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.phase(order{Do: "load", Rate: 200, Duration: b.size.warm}); err != nil {
		return err
	}
	if b.wants("cpu") {
		for _, rate := range []float64{200, 600} {
			p, err := s.phase(order{Do: "load", Rate: rate, Duration: b.size.load})
			if err != nil {
				return err
			}
			if p.Completed == 0 {
				return fmt.Errorf("no call got through at %.0f per second: %s", rate, p.Why)
			}
			b.record(n, name, fmt.Sprintf("cpu@%.0f", rate), p.values())
			if p.Fault != "" {
				b.say("%-15s run %d  the first of %d faults: %s", name, n, p.Faults, p.Fault)
			}
		}
	}
	if name == "direct" || !b.wants("max") && !b.wants("overload") {
		return nil
	}
	top, err := s.maximum(ctx, n)
	if err != nil || top == 0 || !b.wants("overload") {
		return err
	}
	return s.overload(n, top)
}

// record writes one measurement down and shows it.
func (b *bench) record(run int, sut, test string, values map[string]float64) {
	b.results.add(result{Run: run, SUT: sut, Test: test, Values: values})
	b.say("%-15s run %d  %-13s %s", sut, run, test, show(values))
}
