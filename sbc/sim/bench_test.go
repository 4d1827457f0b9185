package sim

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCores is one whole call through both pure cores and the parser, without
// sockets: INVITE, 180, 200, ACK, BYE, 200.
func BenchmarkCores(b *testing.B) {
	w := newWorld(b, 1)
	w.callee(calleeAddr, AnswersAtOnce())
	c := w.caller(CallerConfig{}, calleeAddr)
	b.ReportAllocs()
	for b.Loop() {
		c.Place(w.now, Placement{To: "+12145550100"})
		w.run(time.Microsecond)
		w.trace = w.trace[:0]
	}
}

// BenchmarkLoopback drives a far end over UDP on loopback, both in this process,
// and reports the processor time of one call for both sides together.
func BenchmarkLoopback(b *testing.B) { benchmarkCalls(b, nil) }

func benchmarkCalls(b *testing.B, loop *Loop) {
	far, err := StartFarEnd(FarEndConfig{
		CalleeConfig: CalleeConfig{Name: "far", Behaviour: AnswersAtOnce(), KeepLegs: -1}, Listen: []Listen{{Addr: anyPort4}}, Loop: loop,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer far.Close()
	l, err := NewLoad(LoadConfig{CallerConfig: CallerConfig{Nodes: []Node{{Addr: far.Addr(0)}}}, Rate: 2000, Calls: b.N, Loop: loop})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	start := processorTime()
	b.ResetTimer()
	r, err := l.Run(context.Background())
	b.StopTimer()
	if err != nil || r.Counts.Failed > 0 {
		b.Fatalf("%+v %v", r.Counts, err)
	}
	b.ReportMetric(float64((processorTime()-start).Microseconds())/float64(b.N), "cpu-us/call")
	b.ReportMetric(r.PDD.P50, "pdd-p50-us")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
