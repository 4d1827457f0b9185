//go:build e2e

package e2e

import (
	"sync"
	"testing"

	"github.com/tandem-sbc/tandem/lab"
)

// network builds the laboratory that all tests of a run share.
var network = sync.OnceValues(func() (*lab.Lab, error) {
	l, err := lab.New(run.dir, 1)
	if err != nil {
		return nil, err
	}
	shared.add(l.Close)
	return l, nil
})

func theLab(t testing.TB) *lab.Lab {
	t.Helper()
	l, err := network()
	if err != nil {
		t.Fatal(err)
	}
	return l
}
