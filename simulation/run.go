package simulation

import (
	"strings"
)

// Options say how to play a seed.
type Options struct {
	// Trace keeps a line for everything that happens.
	Trace bool
}

// Result is what came of a seed.
type Result struct {
	Seed uint64
	// Hash is of all that happened, in order: equal for equal runs.
	Hash uint64
	// Faults are the rules that did not hold; none when all is well.
	Faults []string
	// Trace is what happened, a line each, when it was asked for.
	Trace []string
	// Sums count what the run did.
	Sums Sums
}

// Run plays one seed to its end and checks what must hold.
func (l *Lab) Run(seed uint64, opt Options) Result {
	w := newWorld(l, seed, opt.Trace)
	for _, n := range w.nodes {
		w.after(upTo(w.net, exchangeEvery), n.exchange)
	}
	w.planCalls()
	w.planBindings()
	w.planFaults()
	w.play(w.plan.end())
	w.check()
	return Result{Seed: seed, Hash: w.hash.Sum64(), Faults: w.faults, Trace: w.trace, Sums: w.sums}
}

// Report is a failure as a person needs it: how to play it again, what broke, and
// the last lines before that.
func (r *Result) Report(lines int) string {
	var b strings.Builder
	for _, line := range r.Trace[max(0, len(r.Trace)-lines):] {
		b.WriteString(line + "\n")
	}
	for _, f := range r.Faults {
		b.WriteString("  " + f + "\n")
	}
	return b.String()
}
