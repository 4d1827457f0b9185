//go:build e2e

package e2e

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/sbc/sim"
)

// simPBX starts a simulated PBX at a host of a place. It runs in this process
// and counts exactly what it saw.
func simPBX(t testing.TB, p lab.Place, host int, b sim.Behaviour) *sim.FarEnd {
	t.Helper()
	var f *sim.FarEnd
	err := theLab(t).Namespace(p).Do(func() (err error) {
		f, err = sim.StartPBX(fmt.Sprintf("%s-%d", p, host), netip.AddrPortFrom(lab.Host4(p, host), 5060), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The caller is answered before the B leg's ACK or BYE has arrived: a far
		// end that goes at once leaves these to the next one at its address.
		_ = poll(2*time.Second, func() error {
			if slices.ContainsFunc(f.Legs(), func(l sim.Leg) bool { return l.State != sim.LegEnded }) {
				return errNotYet
			}
			return nil
		})
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// counted waits until a far end's account satisfies a condition.
func counted(t testing.TB, f *sim.FarEnd, what string, ok func(sim.Account) bool) {
	t.Helper()
	eventually(t, 30*time.Second, f.Name()+": "+what, func() error {
		a := f.Account()
		if !ok(a) {
			return fmt.Errorf("%+v", a)
		}
		return nil
	})
}

// faultless fails the test when a far end saw a breach of protocol.
func faultless(t testing.TB, f *sim.FarEnd) {
	t.Helper()
	if a := f.Account(); a.FaultCount != 0 {
		t.Errorf("%s saw %d breaches of protocol: %+v", f.Name(), a.FaultCount, a.Faults)
	}
}
