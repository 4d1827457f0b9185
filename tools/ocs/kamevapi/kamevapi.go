// Package kamevapi stands in for the Kamailio client that CGRateS imports, whose version
// there the module proxy does not have. The tests charge over Diameter: nothing connects.
package kamevapi

import (
	"errors"
	"net"
	"regexp"
	"time"
)

var errNone = errors.New("this build has no Kamailio client")

// KamEvapi is a connection to Kamailio.
type KamEvapi struct{}

// NewKamEvapi fails.
func NewKamEvapi(_ string, _, _ int, _ time.Duration, _ func(unit, longest time.Duration) func() time.Duration,
	_ map[*regexp.Regexp][]func([]byte, int), _ any,
) (*KamEvapi, error) {
	return nil, errNone
}

// ReadEvents fails.
func (*KamEvapi) ReadEvents() error { return errNone }

// Disconnect does nothing.
func (*KamEvapi) Disconnect() error { return nil }

// RemoteAddr is nobody's.
func (*KamEvapi) RemoteAddr() net.Addr { return nil }

// Send fails.
func (*KamEvapi) Send(string) error { return errNone }
