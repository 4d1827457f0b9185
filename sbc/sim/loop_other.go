//go:build !linux

package sim

import (
	"errors"
	"net/netip"
	"sync"

	"github.com/tandem-sbc/tandem/sbc/transport"
)

// Loop is the fast path of load tests; this system has none.
type Loop struct{ mu sync.Mutex }

// NewLoop says that there is no fast path here.
func NewLoop() (*Loop, error) { return nil, errors.New("loop: needs Linux") }

// Close does nothing.
func (l *Loop) Close() error { return nil }

func (l *Loop) attach(*endpoint, []transport.ListenerConfig) ([]netip.AddrPort, error) {
	return nil, errors.New("loop: needs Linux")
}

func (l *Loop) detach(*endpoint) error                   { return nil }
func (l *Loop) send(*endpoint, transport.Target, []byte) {}
func (l *Loop) flush(*endpoint)                          {}
