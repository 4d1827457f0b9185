package sim

import (
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func startLoop(t testing.TB) *Loop {
	t.Helper()
	l, err := NewLoop()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestLoopCarriesCallsOfBothSides(t *testing.T) {
	for _, addr := range []Listen{{Addr: anyPort4}, {Addr: anyPort6}} {
		loop := startLoop(t)
		far, err := StartFarEnd(FarEndConfig{
			CalleeConfig: CalleeConfig{Name: "far", Behaviour: Answers(time.Millisecond, 5*time.Millisecond), Timers: quick},
			Listen:       []Listen{addr}, Loop: loop,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := runLoad(t, LoadConfig{
			CallerConfig: CallerConfig{Nodes: []Node{{Addr: far.Addr(0)}}}, Loop: loop,
			Rate: 1000, Calls: 500, Hold: 20 * time.Millisecond, Cancel: .3, Within: 10 * time.Millisecond,
		})
		a := settled(t, far)
		if n := r.Counts; n.Failed+r.Left+r.FaultsN+a.FaultCount != 0 || a.CallIDs != 500 || n.Answered != a.Answered {
			t.Errorf("caller %+v %+v\nfar end %+v", n, r.Faults, a)
		}
		if err := far.Kill(); err != nil {
			t.Error(err)
		}
		if err := far.Revive(); err != nil || !far.Alive() {
			t.Error(err)
		}
		if err := far.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLoopRefusesStreams(t *testing.T) {
	_, err := StartFarEnd(FarEndConfig{Listen: []Listen{{Transport: trunkgroup.TCP, Addr: anyPort4}}, Loop: startLoop(t)})
	if err == nil {
		t.Error("TCP was taken")
	}
}

// BenchmarkLoop is BenchmarkLoopback on the fast path.
func BenchmarkLoop(b *testing.B) { benchmarkCalls(b, startLoop(b)) }
