package hunt

import (
	"testing"
	"time"
	"unsafe"
)

// answeredFirst is the common call: the first target rings and answers.
func answeredFirst(s *Sequence, now time.Time) {
	s.Start(now)
	s.Provisional(now, 0, 100)
	s.Deadline()
	s.Provisional(now, 0, 180)
	s.Deadline()
	s.Final(now, 0, 200)
}

// failover is a call that goes to its fourth target and to the peer site.
func failover(s *Sequence, now time.Time) {
	s.Start(now)
	s.Final(now, 0, 503)
	s.TransportError(now, 1, CauseTransport)
	s.Final(now, 2, 408)
	s.Expire(s.Deadline())
	s.HandoffProvisional(now, 180)
	s.HandoffDone(now, HandoffResult{Answered: true, Code: 200})
}

func fourTargets() Config {
	return Config{
		Groups:  []Group{{}},
		Targets: []Target{{Dialable: true}, {Dialable: true}, {Dialable: true}, {Dialable: true}},
		Ring:    30 * time.Second, MaxPDD: 15 * time.Second, Handoff: true,
	}
}

// TestNoAllocations: a call allocates its sequence and the list of attempts, and the list once more when
// it goes beyond its second target.
func TestNoAllocations(t *testing.T) {
	cfg, now := fourTargets(), time.Unix(0, 0)
	for _, tt := range []struct {
		name string
		call func(*Sequence, time.Time)
		want float64
	}{{"answered", answeredFirst, 2}, {"failover", failover, 3}} {
		if got := testing.AllocsPerRun(100, func() { tt.call(New(cfg, now), now) }); got > tt.want {
			t.Errorf("%s: %v allocations, want %v", tt.name, got, tt.want)
		}
	}
	if size := unsafe.Sizeof(Sequence{}); size > 512 {
		t.Errorf("a sequence has %d bytes", size)
	}
}

func BenchmarkAnsweredFirst(b *testing.B) {
	cfg, now := fourTargets(), time.Unix(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		answeredFirst(New(cfg, now), now)
	}
}

// forked is a call that three far ends are called for at once.
func forked(s *Sequence, now time.Time) {
	s.Start(now)
	s.Provisional(now, 0, 180)
	s.Provisional(now, 1, 180)
	s.Deadline()
	s.Final(now, 2, 486)
	s.Final(now, 1, 200)
}

// BenchmarkFork is a whole hunt; what it allocates beside one that forks nothing is room for three
// attempts in flight and for what the answer makes of them.
func BenchmarkFork(b *testing.B) {
	cfg, now := fourTargets(), time.Unix(0, 0)
	cfg.Targets, cfg.Groups = cfg.Targets[:3], []Group{{Parallel: true}}
	b.ReportAllocs()
	for b.Loop() {
		forked(New(cfg, now), now)
	}
}

func BenchmarkFailover(b *testing.B) {
	cfg, now := fourTargets(), time.Unix(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		failover(New(cfg, now), now)
	}
}
