//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags of the command.
type options struct {
	suts      []string
	tests     []string
	runs      int
	out       string
	table     string
	short     bool
	check     bool
	sutCore   string
	genCore   string
	binary    string // a tandem binary; "" = built from this source
	yardstick string // source of another generator for -check
	size      sizes
}

// sizes says how long each measurement takes.
type sizes struct {
	warm    time.Duration // the first phase, not measured
	load    time.Duration // one phase at a fixed rate
	step    time.Duration // one step of the search
	steps   int           // the search ends after so many
	ratio   float64       // or when the upper bound is this close to the lower
	factors []float64     // overload, in multiples of the maximum
	hold    int           // calls held
	ramp    float64       // calls per second while they are set up
	quiet   time.Duration // rest before memory is read and after an overload
	grace   time.Duration // wait for calls to end
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == generatorWord {
		if err := generate(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	suts := f.String("sut", "", "servers to measure (default all; with -short direct,tandem,kamailio)")
	tests := f.String("test", "cpu,max,overload,hold", "measurements to make")
	f.IntVar(&o.runs, "runs", 3, "runs of each measurement")
	f.StringVar(&o.out, "out", "out/bench.jsonl", "file that the measurements are appended to")
	f.StringVar(&o.table, "table", "", "file for the table as well")
	f.BoolVar(&o.short, "short", false, "one quick pass")
	f.BoolVar(&o.check, "check", false, "compare our load program with others")
	f.StringVar(&o.sutCore, "sut-core", "0", "processor core of the server")
	f.StringVar(&o.genCore, "gen-core", "1", "processor core of the load program")
	f.StringVar(&o.binary, "tandem", "", "tandem binary to measure; default: built from this source")
	f.StringVar(&o.yardstick, "yardstick", "../shared/bench/gen/sipload.c", "source of the C generator for -check")
	f.DurationVar(&o.size.load, "load", 15*time.Second, "length of a phase at a fixed rate")
	f.DurationVar(&o.size.step, "step", 8*time.Second, "length of a step of the search for the maximum")
	f.IntVar(&o.size.hold, "hold", 10000, "calls held for the memory measurement")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if *suts == "" {
		*suts = "direct,tandem,kamailio,kamailio-topos"
		if o.short {
			*suts = "direct,tandem,kamailio"
		}
	}
	o.suts, o.tests = strings.Split(*suts, ","), strings.Split(*tests, ",")
	o.size.warm, o.size.steps, o.size.ratio, o.size.factors = 2*time.Second, 20, 1.05, []float64{1.5, 2, 10}
	o.size.ramp, o.size.quiet, o.size.grace = 500, 7*time.Second, 10*time.Second
	if o.short {
		o.runs = 1
		o.size = sizes{
			warm: time.Second, load: 1500 * time.Millisecond, step: 1500 * time.Millisecond, steps: 2, ratio: 1.6,
			factors: []float64{2}, hold: 300, ramp: 300, quiet: time.Second, grace: 3 * time.Second,
		}
	}
	for _, t := range o.tests {
		if !slices.Contains([]string{"cpu", "max", "overload", "hold"}, t) {
			return o, fmt.Errorf("test %q is not known", t)
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string, w io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	b, err := newBench(o, w)
	if err != nil {
		return err
	}
	defer b.close()
	if o.check {
		return b.crossCheck(ctx)
	}
	if err := b.measureAll(ctx); err != nil {
		return err
	}
	return b.writeTable()
}
